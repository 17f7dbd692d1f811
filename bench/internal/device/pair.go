package device

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const (
	// Window is how many messages an end of a Pair may have under way.
	Window = 64
	qkey   = 0x11111111
)

// Pair is two queue pairs in RTS, each the other's peer, on one device.
type Pair struct{ A, B *End }

// End is a queue pair with memory for the messages of a round, each in a buffer
// of its own, so that the contents of all can be looked at afterwards.
type End struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
	Handle         *rdma.QP    // of the queue pair, for rings
	To             rdma.UDPeer // where the peer is, for rings; without an AH unless it is a UD queue pair
	Peer           *End
	AH             *ibv.AH // where the peer is; nil unless it is a UD queue pair

	size, header int // of a message, and what stands in front of one that was received
	out, in      *ibv.MR
	bufs         []ibv.Buffer
	kept         []func() error
}

// Keep has something closed behind the queue pair: a ring of its.
func (e *End) Keep(close func() error) { e.kept = append(e.kept, close) }

// Out is where message i is sent from.
func (e *End) Out(i int) ibv.SGE { return e.out.SGE(i*e.size, e.size) }

// In is where message i is received.
func (e *End) In(i int) ibv.SGE { return e.in.SGE(i*e.Received(), e.Received()) }

// Received is how many bytes a receive takes.
func (e *End) Received() int { return e.header + e.size }

// Size is how many bytes a message has.
func (e *End) Size() int { return e.size }

// Inbox is where message i is, in the buffer that In describes.
func (e *End) Inbox(i int) []byte { return e.in.Bytes()[i*e.Received():][e.header:e.Received()] }

// Address makes a send go to the peer.
func (e *End) Address(wr *ibv.SendWR) {
	if e.AH != nil {
		*wr.WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(e.AH), RemoteQPN: e.Peer.QP.QPNum, RemoteQKey: qkey}
	}
}

// Write makes up new messages to send, all different, and wipes what was
// received.
func (e *End) Write() {
	out := e.out.Bytes()
	for i := 0; i+8 <= len(out); i += 8 {
		binary.NativeEndian.PutUint64(out[i:], rand.Uint64())
	}
	clear(e.in.Bytes())
}

// Arrived reports whether what was received is message i of the peer's.
func (e *End) Arrived(message []byte, i int) bool {
	return slices.Equal(message, e.Peer.out.Bytes()[i*e.size:][:e.size])
}

// Pair makes a pair for rounds of so many messages of size bytes.
func (d *real) Pair(typ ibv.QPType, messages, size int) (*Pair, error) {
	p := &Pair{A: &End{size: size}, B: &End{size: size}}
	d.pairs = append(d.pairs, p) // Close closes what there is
	p.A.Peer, p.B.Peer = p.B, p.A
	for _, e := range []*End{p.A, p.B} {
		if err := d.open(e, typ, messages); err != nil {
			return nil, err
		}
	}
	for _, e := range []*End{p.A, p.B} {
		if err := d.connect(e); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Endless is a UD queue pair that sends to one without receives, where messages are
// dropped. None is signalled.
func (d *real) Endless() (*Endless, error) {
	pair, err := d.Pair(ibv.QPTUD, 1, 64)
	if err != nil {
		return nil, err
	}
	e := &Endless{QP: pair.A.QP, CQ: pair.A.SendCQ}
	if e.Sends, err = ibv.NewSendChain(1, 1); err != nil {
		return nil, err
	}
	if err := e.Sends.Set(0, 0, ibv.WRSend, 0, pair.A.Out(0)); err != nil {
		return nil, err
	}
	pair.A.Address(e.Sends.WR(0))
	return e, nil
}

// open makes what an end has.
func (d *real) open(e *End, typ ibv.QPType, messages int) (err error) {
	if typ == ibv.QPTUD {
		e.header = ibv.GRHLength
	}
	for _, m := range []struct {
		mr   **ibv.MR
		size int
	}{{&e.out, messages * e.size}, {&e.in, messages * e.Received()}} {
		buf, err := ibv.AllocBuffer(m.size)
		if err != nil {
			return err
		}
		e.bufs = append(e.bufs, buf)
		if *m.mr, err = d.pd.RegMR(buf, ibv.AccessLocalWrite); err != nil {
			return err
		}
	}
	if e.SendCQ, err = d.ctx.CreateCQ(2 * Window); err != nil {
		return err
	}
	if e.RecvCQ, err = d.ctx.CreateCQ(2 * messages); err != nil {
		return err
	}
	if e.QP, err = d.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: e.SendCQ, RecvCQ: e.RecvCQ, QPType: typ,
		Cap: ibv.QPCap{MaxSendWR: Window, MaxRecvWR: uint32(messages), MaxSendSGE: 1, MaxRecvSGE: 1},
	}); err != nil {
		return err
	}
	sends, err := d.dev.AdoptCQ(e.SendCQ, rdma.CQOptions{})
	if err != nil {
		return err
	}
	recvs, err := d.dev.AdoptCQ(e.RecvCQ, rdma.CQOptions{})
	if err != nil {
		return err
	}
	e.Handle, err = d.domain.AdoptQP(e.QP, rdma.QPOptions{SendCQ: sends, RecvCQ: recvs})
	return err
}

// connect brings an end to RTS.
func (d *real) connect(e *End) error {
	if e.QP.QPType != ibv.QPTUD {
		return d.connectRC(e.QP, e.Peer.QP.QPNum, ibv.AccessLocalWrite)
	}
	gid, err := d.ctx.BestGID(port)
	if err != nil {
		return err
	}
	if e.AH, err = d.pd.CreateAHTo(port, gid.GIDIndex, gid.GID); err != nil {
		return err
	}
	ah, err := d.domain.AdoptAH(e.AH)
	if err != nil {
		return err
	}
	e.To = rdma.UDPeer{AH: ah, QPNum: e.Peer.QP.QPNum, QKey: qkey}
	return d.connectUD(e.QP)
}

// close closes what there is.
func (e *End) close() error {
	var errs []error
	if e.QP != nil {
		errs = append(errs, e.QP.Close())
	}
	for _, close := range e.kept {
		errs = append(errs, close())
	}
	if e.AH != nil {
		errs = append(errs, e.AH.Close())
	}
	for _, mr := range []*ibv.MR{e.out, e.in} {
		if mr != nil {
			errs = append(errs, mr.Close())
		}
	}
	for _, buf := range e.bufs {
		errs = append(errs, buf.Free())
	}
	for _, cq := range []*ibv.CQ{e.SendCQ, e.RecvCQ} {
		if cq != nil {
			errs = append(errs, cq.Close())
		}
	}
	return errors.Join(errs...)
}
