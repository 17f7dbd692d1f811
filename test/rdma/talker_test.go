//go:build device && linux

package rdma

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// talkSize is how long a talker's messages are, in bytes.
const talkSize = 64

// creditOnly is the number of a message that only tells how much was posted.
const creditOnly = 1<<64 - 1

// talker is one end of a connection: a queue pair with both rings on one completion
// queue, that sends and receives numbered messages within credits. Its methods return
// errors, because it works in other goroutines and processes than the test's, too.
type talker struct {
	pd    *rdma.PD
	cq    *rdma.CQ
	qp    *rdma.QP
	sends *rdma.SendRing
	recvs *rdma.RecvRing
	from  *rdma.Region
	wcs   []ibv.WC

	slot           int         // of from, for the next send
	sent, received uint64      // messages, without those that only tell credits
	told           uint64      // what the peer was told of the receives that are posted
	pulse          rdma.Remote // what of the peer's may be written to, to see whether it lives
	onMessage      func()      // called for each that was received, or nil
}

// newTalker makes one, with room for depth sends and receives. cq has room for
// 4*depth completions of it; it is made if it is nil, and the talker's own then.
func newTalker(pd *rdma.PD, cq *rdma.CQ, depth int) (t *talker, err error) {
	t = &talker{pd: pd, cq: cq, wcs: make([]ibv.WC, 64)}
	if cq == nil {
		if t.cq, err = pd.Device().CreateCQ(4*depth, rdma.CQOptions{}); err != nil {
			return nil, err
		}
	}
	t.qp, err = pd.CreateQP(rdma.QPOptions{
		SendCQ: t.cq, RecvCQ: t.cq, Access: ibv.AccessRemoteWrite,
		Cap: ibv.QPCap{MaxSendWR: uint32(depth), MaxRecvWR: uint32(depth), MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		return nil, err
	}
	if t.sends, err = rdma.NewSendRing(t.qp, rdma.SendRingOptions{Requests: depth}); err != nil {
		return nil, err
	}
	if t.recvs, err = rdma.NewRecvRing(t.qp, rdma.RecvRingOptions{Buffers: depth, Size: talkSize}); err != nil {
		return nil, err
	}
	// The last message's place is where the peer may write.
	t.from, err = pd.AllocRegion((depth+1)*talkSize, rdma.RegionOptions{Access: ibv.AccessLocalWrite | ibv.AccessRemoteWrite})
	return t, err
}

// connect connects it to one at the other end of conn.
func (t *talker) connect(ctx context.Context, conn net.Conn, opts rdma.ConnectOptions) error {
	mine, err := t.from.Remote(t.sends.Len()*talkSize, talkSize)
	if err != nil {
		return err
	}
	t.told = t.recvs.Posted()
	opts.Data = binary.BigEndian.AppendUint64(nil, t.told)
	opts.Data = append(opts.Data, mine.String()...)
	peer, err := t.qp.Connect(ctx, conn, opts)
	if err != nil {
		return err
	}
	if len(peer.Data) < 8 {
		return fmt.Errorf("the peer tells %q", peer.Data)
	}
	t.sends.SetLimit(binary.BigEndian.Uint64(peer.Data))
	return t.pulse.UnmarshalText(peer.Data[8:])
}

// talk sends so many messages and receives as many.
func (t *talker) talk(ctx context.Context, messages uint64) error {
	for {
		if err := t.say(messages); err != nil {
			return err
		}
		if t.finished(messages) {
			return nil
		}
		if err := t.wait(ctx); err != nil {
			return err
		}
	}
}

// finished reports whether so many messages were sent, which have arrived, and as
// many received.
func (t *talker) finished(messages uint64) bool {
	return t.sent >= messages && t.received >= messages && t.sends.Outstanding() == 0
}

// wait takes what completes next.
func (t *talker) wait(ctx context.Context) error {
	n, err := t.cq.Wait(ctx, t.wcs)
	for i := range t.wcs[:n] {
		own, failed := t.handle(&t.wcs[i])
		if failed != nil {
			return failed
		}
		if !own {
			return fmt.Errorf("a completion that is nobody's: %v", t.wcs[i])
		}
	}
	return err
}

// handle takes a completion, if it is the talker's.
func (t *talker) handle(wc *ibv.WC) (own bool, err error) {
	if t.sends.Handle(wc) {
		return true, wc.Err()
	}
	m, own := t.recvs.Handle(wc)
	if !own {
		return false, nil
	}
	if err := wc.Err(); err != nil {
		return true, err
	}
	if err := t.hear(m.Data); err != nil {
		return true, err
	}
	return true, t.recvs.Release(m)
}

// hear looks at a message.
func (t *talker) hear(message []byte) error {
	if len(message) != talkSize {
		return fmt.Errorf("message %d has %d bytes", t.received, len(message))
	}
	t.sends.SetLimit(binary.LittleEndian.Uint64(message[8:]))
	number := binary.LittleEndian.Uint64(message)
	if number == creditOnly {
		return nil
	}
	if number != t.received {
		return fmt.Errorf("message %d came in place of %d", number, t.received)
	}
	for at := 16; at < talkSize; at += 8 {
		if got := binary.LittleEndian.Uint64(message[at:]); got != pattern(number, at) {
			return fmt.Errorf("message %d has %#x at %d", number, got, at)
		}
	}
	t.received++
	if t.onMessage != nil {
		t.onMessage()
	}
	return nil
}

// pattern is what is at an offset of a message.
func pattern(number uint64, at int) uint64 { return (number + uint64(at)) * 0x9e3779b97f4a7c15 }

// say posts the receives that were given back, and sends what it can and has to, of
// so many messages.
//
// The last credit is for a message that tells the peer of many more receives. So the
// two ends never wait for each other's credits: an end whose peer has none left but
// the last has received all the others, and that is many.
func (t *talker) say(messages uint64) error {
	if err := t.recvs.Flush(); err != nil {
		return err
	}
	for {
		news := t.recvs.Posted() - t.told
		many := news >= uint64(t.recvs.Len()/2)
		credit := t.sends.Credit()
		if credit == 0 || !many && (credit == 1 || t.sent >= messages) {
			break
		}
		number := uint64(creditOnly)
		var flags ibv.SendFlags
		if t.sent < messages {
			number = t.sent
		}
		if t.sent+1 >= messages {
			flags = ibv.SendSignaled // so that its end is heard of
		}
		if _, err := t.sends.Add(ibv.WRSend, flags, t.from.SGE(t.slot*talkSize, talkSize)); err != nil {
			if errors.Is(err, rdma.ErrRingFull) {
				break
			}
			return err
		}
		t.told += news
		t.write(t.from.Bytes()[t.slot*talkSize:][:talkSize], number)
		if number != creditOnly {
			t.sent++
		}
		t.slot = (t.slot + 1) % t.sends.Len()
	}
	return t.sends.Post()
}

// write writes a message.
func (t *talker) write(message []byte, number uint64) {
	binary.LittleEndian.PutUint64(message, number)
	binary.LittleEndian.PutUint64(message[8:], t.told)
	for at := 16; at < talkSize; at += 8 {
		binary.LittleEndian.PutUint64(message[at:], pattern(number, at))
	}
}

// feel writes to the peer's memory, which it does not notice, but this end does if the
// peer is dead. If the ring is full, something else is on the way that tells.
func (t *talker) feel() error {
	slot := t.slot
	_, err := t.sends.AddRDMA(ibv.WRRDMAWrite, ibv.SendSignaled, t.pulse, t.from.SGE(slot*talkSize, talkSize))
	if errors.Is(err, rdma.ErrRingFull) {
		return nil
	}
	if err == nil {
		t.slot = (t.slot + 1) % t.sends.Len()
		err = t.sends.Post()
	}
	return err
}

// close closes all that is its own: the completion queue is, if it says so.
func (t *talker) close(ownCQ bool) error {
	// The receive ring comes with the queue pair, whose memory it is.
	err := errors.Join(t.recvs.CloseAll(), t.sends.Close(), t.from.Close())
	if ownCQ {
		err = errors.Join(err, t.cq.Close())
	}
	return err
}
