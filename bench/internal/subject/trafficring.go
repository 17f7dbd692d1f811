package subject

import (
	"errors"
	"fmt"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// rings is an end that sends and receives with rings.
type rings struct {
	*device.End
	sends *rdma.SendRing
	recvs *rdma.RecvRing
	sges  []ibv.SGE // of the messages
	inbox [][]byte  // the ring's buffers, in the order in which they are filled
	into  []rdma.Received
	have  int // of into: received and not given back yet
}

// newRings makes both ends of a pair.
func newRings(c *course, pair *device.Pair) (a, b *rings, err error) {
	if a, err = c.rings(pair.A); err != nil {
		return nil, nil, err
	}
	if b, err = c.rings(pair.B); err != nil {
		return nil, nil, err
	}
	return a, b, errors.Join(c.fillInbox(a, b), c.fillInbox(b, a))
}

func (c *course) rings(end *device.End) (e *rings, err error) {
	e = &rings{End: end, into: make([]rdma.Received, c.list)}
	for i := range c.messages {
		e.sges = append(e.sges, e.Out(i))
	}
	if e.sends, err = rdma.NewSendRing(e.Handle, rdma.SendRingOptions{Requests: device.Window, SignalEvery: c.Batch}); err != nil {
		return nil, err
	}
	if e.recvs, err = rdma.NewRecvRing(e.Handle, rdma.RecvRingOptions{Buffers: c.messages, Size: e.Size()}); err != nil {
		return nil, err
	}
	e.Keep(e.recvs.CloseAll)
	return e, nil
}

// fillInbox has every buffer of the ring used once, to learn where they are.
func (c *course) fillInbox(from, to *rings) error {
	for i := range c.messages {
		if !c.pingRings(from, to, i) {
			return fmt.Errorf("message %d has not arrived", i)
		}
		data := to.into[0].Data
		to.inbox = append(to.inbox, data[:cap(data)])
		if (i+1)%c.Batch == 0 && !c.awaitRing(from) {
			return fmt.Errorf("messages up to %d are not done", i)
		}
	}
	return nil
}

// write makes up new messages, and wipes what was received.
func (e *rings) write() {
	e.Write()
	for _, b := range e.inbox {
		clear(b)
	}
}

// check looks at all messages of a round.
func (e *rings) check() error {
	return arrived(e.End, len(e.inbox), func(i int) []byte { return e.inbox[i] })
}

// add fills in the send of message i.
func (e *rings) add(i int) bool {
	var err error
	if e.To.AH != nil {
		_, err = e.sends.AddUD(ibv.WRSend, 0, e.To, e.sges[i])
	} else {
		_, err = e.sends.Add(ibv.WRSend, 0, e.sges[i])
	}
	return err == nil
}

// awaitRing polls until all sends are done.
func (c *course) awaitRing(e *rings) bool {
	for range c.Idle {
		if _, err := e.sends.Poll(); err != nil {
			return false
		}
		if e.sends.Outstanding() == 0 {
			return true
		}
	}
	return false
}

// pingPongRings is what ping_pong_loop does in C. A ring posts the receive again
// when it polls for the next.
func (c *course) pingPongRings(a, b *rings, first, n int) int {
	for i := range n {
		if !c.pingRings(a, b, first+i) || !c.pingRings(b, a, first+i) {
			return i
		}
		if (i+1)%c.Batch == 0 && (!c.awaitRing(a) || !c.awaitRing(b)) {
			return i
		}
	}
	return n
}

func (c *course) pingRings(from, to *rings, i int) bool {
	if !from.add(i) || from.sends.Post() != nil {
		return false
	}
	for range c.Idle {
		got, err := to.recvs.Poll(to.into[:1])
		if err != nil {
			return false
		}
		if got > 0 {
			return c.good(&to.into[0]) && to.recvs.Release(to.into[:1]...) == nil
		}
	}
	return false
}

func (c *course) good(m *rdma.Received) bool {
	return m.WC.Status == ibv.WCSuccess && int(m.WC.ByteLen) == c.Received
}

// messageRateRings is what message_rate_loop does in C.
func (c *course) messageRateRings(a, b *rings, first, n int) int {
	posted, received, idle := 0, 0, 0
	for received < n || a.sends.Outstanding() > 0 {
		if posted < n && a.sends.Outstanding()+c.Batch <= c.Window {
			for k := range c.Batch {
				if !a.add(first + posted + k) {
					return received
				}
			}
			if a.sends.Post() != nil {
				return received
			}
			posted += c.Batch
		}
		got, err := b.recvs.Poll(b.into[b.have:])
		if err != nil {
			return received
		}
		for i := range b.into[b.have:][:got] {
			if !c.good(&b.into[b.have+i]) {
				return received
			}
		}
		b.have += got
		received += got
		if idle++; got > 0 {
			idle = 0
		}
		if b.have == len(b.into) {
			if b.recvs.Release(b.into...) != nil {
				return received
			}
			b.have = 0
		}
		if _, err := a.sends.Poll(); err != nil || idle > c.Idle {
			return min(received, n-1)
		}
	}
	return received
}
