//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// transport is what a queue pair's messages need to know of it.
type transport struct {
	now      ibv.QPState // what C's struct says is older: it changes when programs ask
	sends    []*sendWork
	receives []*recvWork
}

// number is the queue pair's.
func (qp *queuePair) number() uint32 { return qp.raw.QPBase.QPNum }

// enter moves the queue pair to a state, with what it does there by itself. Its attributes are those of the new state.
func (qp *queuePair) enter(state ibv.QPState) {
	qp.now, qp.attr.QPState = state, state
	if state == ibv.QPSReset {
		qp.forget()
	}
}

// forget drops what is outstanding.
func (qp *queuePair) forget() { qp.sends, qp.receives = nil, nil }
