//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// transport is what a queue pair's messages need to know of it.
type transport struct {
	sends    sendQueue
	own      recvQueue
	receives *recvQueue // its own, or a shared one

	peers peersUse

	now ibv.QPState // what C's struct says is older: it changes when programs ask
	far *port       // where a connection's path leads to, or nil

	// sendPSN and recvPSN are the numbers that the next packets have.
	sendPSN, recvPSN uint32

	heard bool // whether a message came in RTR

	// The message that is begun, and not ended, if it waits for something.
	begun             bool
	waits             bool
	timer             *timer
	retries, notReady int // how often it was sent again
}

// setUp is for a new queue pair. shared is its shared receive queue, or nil.
func (qp *queuePair) setUp(shared *recvQueue) {
	qp.sends.depth = qp.ctx.f.depth(qp.init.Cap.MaxSendWR)
	qp.own.depth, qp.own.maxSGE, qp.own.in = qp.ctx.f.depth(qp.init.Cap.MaxRecvWR), qp.init.Cap.MaxRecvSGE, qp.pd
	if qp.receives = shared; shared == nil {
		qp.receives = &qp.own
	}
}

// number is the queue pair's.
func (qp *queuePair) number() uint32 { return qp.raw.QPBase.QPNum }

// enter moves the queue pair to a state, with what it does there by itself. Its attributes are those of the new state.
func (qp *queuePair) enter(state ibv.QPState) {
	from := qp.now
	qp.now, qp.attr.QPState = state, state
	switch state {
	case ibv.QPSReset:
		qp.forget()
	case ibv.QPSRTR:
		qp.heard = false
		qp.recvPSN, qp.far = qp.attr.RQPSN, qp.ctx.dev.at(&qp.attr.AHAttr)
	case ibv.QPSRTS:
		if from == ibv.QPSRTR {
			qp.sendPSN = qp.attr.SQPSN
		}
		qp.run()
	case ibv.QPSSQD:
		if from == ibv.QPSRTS {
			qp.drains()
		}
	case ibv.QPSSQE:
		qp.calm()
		qp.flushSends()
	case ibv.QPSErr:
		qp.calm()
		qp.flushSends()
		qp.flushReceives()
		if qp.srq != nil && from != ibv.QPSErr {
			qp.event(ibv.EventQPLastWQEReached) // it takes no more from there (IBTA 11.6.3.2)
		}
	}
}

// forget takes all work requests away without completions.
func (qp *queuePair) forget() {
	qp.calm()
	qp.sends.clear()
	qp.sends.silent = 0
	qp.own.clear()
	qp.far = nil
	qp.peers.stop()
}

// calm ends the wait for anything.
func (qp *queuePair) calm() {
	qp.ctx.f.stop(qp.timer)
	qp.timer, qp.begun, qp.waits, qp.retries, qp.notReady = nil, false, false, 0, 0
}

// receiving reports whether the queue pair answers messages.
func (qp *queuePair) receiving() bool {
	switch qp.now {
	case ibv.QPSRTR, ibv.QPSRTS, ibv.QPSSQD, ibv.QPSSQE:
		return true
	}
	return false
}

// draining reports whether the queue pair is on its way to be drained: a message is still to be answered.
func (qp *queuePair) draining() bool { return qp.now == ibv.QPSSQD && qp.begun }

// drains tells of a send queue that is drained, if it is and the program wants to hear of it.
func (qp *queuePair) drains() {
	if qp.now == ibv.QPSSQD && !qp.begun && qp.attr.EnSQDAsyncNotify != 0 {
		qp.drained()
	}
}

// drained tells of a send queue that is.
func (qp *queuePair) drained() { qp.event(ibv.EventSQDrained) }
