package device

import (
	"errors"
	"fmt"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const (
	realRoom    = 4096
	realSRQRoom = 1024 // it takes as many messages to empty it
	port        = 1
	patience    = time.Minute
	flushing    = time.Millisecond
)

// real is a device of libibverbs.
type real struct {
	dev    *rdma.Device
	domain *rdma.PD
	states *rdma.QP // qp's
	ctx    *ibv.Context
	pd     *ibv.PD
	buf    ibv.Buffer
	mr     *ibv.MR
	cq     *ibv.CQ // qp's
	qp     *ibv.QP // stays in INIT
	srq    *ibv.SRQ
	loop   *loop
	ring   *ring
	// extended is made when it is asked for.
	extended *extended
	// pairs are those that were asked for.
	pairs []*Pair
	// wakers are those, too.
	wakers  []*Wakers
	fill    *ibv.RecvChain
	handles *Handles
	wcs     []ibv.WC
}

// loop is a queue pair that is its own peer and receives from the shared
// receive queue.
type loop struct {
	cq    *ibv.CQ
	qp    *ibv.QP
	sends *ibv.SendChain
}

func newReal(name string) (d *real, err error) {
	d = &real{wcs: make([]ibv.WC, 256)}
	if d.dev, err = rdma.Open(name, rdma.DeviceOptions{}); err != nil {
		return nil, err
	}
	d.ctx = d.dev.Raw()
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if d.domain, err = d.dev.AllocPD(); err != nil {
		return d, err
	}
	d.pd = d.domain.Raw()
	if d.buf, err = ibv.AllocBuffer(4096); err != nil {
		return d, err
	}
	if d.mr, err = d.pd.RegMR(d.buf, ibv.AccessLocalWrite); err != nil {
		return d, err
	}
	if d.cq, err = d.ctx.CreateCQ(4 * realRoom); err != nil {
		return d, err
	}
	if d.qp, err = d.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: d.cq, RecvCQ: d.cq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: realRoom, MaxSendSGE: 1, MaxRecvSGE: 1},
	}); err != nil {
		return d, err
	}
	if d.states, err = d.handle(d.qp); err != nil {
		return d, err
	}
	if err = d.states.ToInit(port, ibv.AccessLocalWrite); err != nil {
		return d, err
	}
	if d.fill, err = ibv.NewRecvChain(realRoom, 1); err != nil {
		return d, err
	}
	for i := range realRoom {
		if err = d.fill.Set(i, uint64(i), d.SGE()); err != nil {
			return d, err
		}
	}
	if d.srq, err = d.pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 2 * realSRQRoom, MaxSGE: 1}}); err != nil {
		return d, err
	}
	if d.loop, err = d.newLoop(d.srq, nil); err != nil {
		return d, err
	}
	if d.ring, err = d.newRing(); err != nil {
		return d, err
	}
	d.handles, err = d.adopt()
	return d, err
}

// newLoop makes a loop that receives from srq and has its receives complete on
// recvCQ, or where its sends do if that is nil.
func (d *real) newLoop(srq *ibv.SRQ, recvCQ *ibv.CQ) (l *loop, err error) {
	l = &loop{}
	if l.cq, err = d.ctx.CreateCQ(4 * realSRQRoom); err != nil {
		return l, err
	}
	if recvCQ == nil {
		recvCQ = l.cq
	}
	if l.qp, err = d.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: l.cq, RecvCQ: recvCQ, SRQ: srq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: uint32(len(d.wcs)), MaxSendSGE: 1},
	}); err != nil {
		return l, err
	}
	if err = d.connectRC(l.qp, l.qp.QPNum, ibv.AccessLocalWrite); err != nil {
		return l, err
	}
	l.sends, err = ibv.NewSendChain(len(d.wcs), 0) // empty messages
	return l, err
}

// Name is the kernel's.
func (d *real) Name() string { return d.ctx.Device.String() }

func (d *real) QP() *ibv.QP   { return d.qp }
func (d *real) SRQ() *ibv.SRQ { return d.srq }
func (d *real) CQ() *ibv.CQ   { return d.cq }
func (d *real) SGE() ibv.SGE  { return d.mr.SGE(0, len(d.buf)) }

func (d *real) RecvRoom() int { return realRoom }
func (d *real) SRQRoom() int  { return realSRQRoom }

// SendRoom is 0: a send rings the doorbell, which on Soft-RoCE is a system call in
// which the message is sent. That takes many thousand times as long as the post of
// a receive, and differs more from one to the next than a post costs.
func (d *real) SendRoom() int { return 0 }

// TakeRecvs takes the receives off the queue by moving it to the error state,
// where they complete.
func (d *real) TakeRecvs(n int) error {
	if err := d.states.ToErr(); err != nil {
		return err
	}
	if err := d.poll(d.cq, n); err != nil {
		return err
	}
	if more, err := d.cq.Poll(d.wcs); err != nil || more != 0 {
		return errors.Join(err, counted("receives", n+more, n))
	}
	return d.revive()
}

// revive moves the queue pair from the error state to INIT.
func (d *real) revive() error {
	if err := d.states.ToReset(); err != nil {
		return err
	}
	return d.states.ToInit(port, ibv.AccessLocalWrite)
}

// TakeSRQRecvs has a message received for each of them.
func (d *real) TakeSRQRecvs(n int) error {
	for n > 0 {
		k := min(n, d.loop.sends.Len())
		if _, err := d.loop.sends.PostRange(d.loop.qp, 0, k); err != nil {
			return err
		}
		if err := d.poll(d.loop.cq, 2*k); err != nil {
			return err
		}
		n -= k
	}
	return nil
}

// TakeSends says that there can be none.
func (d *real) TakeSends(n int) error { return counted("sends", 0, n) }

// Complete posts receives and moves the queue to the error state and back.
func (d *real) Complete(n int) error {
	if accepted, err := d.fill.PostRange(d.qp, 0, n); err != nil {
		return fmt.Errorf("%d of %d posted: %w", accepted, n, err)
	}
	if err := d.states.ToErr(); err != nil {
		return err
	}
	// Soft-RoCE flushes in a thread of the kernel's, which needs a processor too.
	time.Sleep(flushing)
	return d.revive()
}

// DropCompletions empties the queue pair's completion queue.
func (d *real) DropCompletions() error { return drop(d.cq, d.wcs) }

// close closes what there is.
func (l *loop) close() error {
	if l == nil {
		return nil
	}
	var errs []error
	if l.qp != nil {
		errs = append(errs, l.qp.Close())
	}
	if l.cq != nil {
		errs = append(errs, l.cq.Close())
	}
	return errors.Join(errs...)
}

// poll takes n completions, each a success or flushed.
func (d *real) poll(cq *ibv.CQ, n int) error {
	deadline := time.Now().Add(patience)
	for n > 0 {
		got, err := cq.Poll(d.wcs[:min(n, len(d.wcs))])
		if err != nil {
			return err
		}
		for i := range d.wcs[:got] {
			if wc := &d.wcs[i]; wc.Status != ibv.WCSuccess && wc.Status != ibv.WCWRFlushErr {
				return wc.Err()
			}
		}
		if got == 0 && time.Now().After(deadline) {
			return fmt.Errorf("%d completions have not come in %v", n, patience)
		}
		n -= got
	}
	return nil
}

// Close closes what there is.
func (d *real) Close() error {
	errs := []error{d.handles.close(), d.ring.close(), d.loop.close(), d.extended.close()}
	for _, w := range d.wakers {
		errs = append(errs, w.close())
	}
	for _, p := range d.pairs {
		errs = append(errs, p.A.close(), p.B.close())
	}
	if d.srq != nil {
		errs = append(errs, d.srq.Close())
	}
	if d.qp != nil {
		errs = append(errs, d.qp.Close())
	}
	if d.cq != nil {
		errs = append(errs, d.cq.Close())
	}
	if d.mr != nil {
		errs = append(errs, d.mr.Close())
	}
	if d.buf != nil {
		errs = append(errs, d.buf.Free())
	}
	return errors.Join(append(errs, d.dev.CloseAll())...)
}
