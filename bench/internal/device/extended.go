package device

import (
	"errors"
	"fmt"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Extended is a queue pair and a completion queue with C's extended functions.
type Extended struct {
	QP *ibv.QPEx // takes RDMA writes
	CQ *ibv.CQEx
	// Handles are package rdma's of these, or nil where there can be none.
	Handles *ExtendedHandles

	SGE  ibv.SGE // of memory that writes read, and
	Addr uint64  // that they write to
	RKey uint32

	// SendRoom is how many writes may be posted between two calls of TakeSends, which
	// has them done, and checks that they were so many.
	SendRoom  int
	TakeSends func(n int) error

	// CQRoom is up to how many completions Complete puts on CQ, which must be empty; a
	// device may take its time. Drop empties CQ.
	CQRoom   int
	Complete func(n int) error
	Drop     func() error
}

// ExtendedHandles are package rdma's.
type ExtendedHandles struct {
	QP *rdma.QP
	CQ *rdma.CQ
}

// ExtendedFields is what polls of the extended queue read.
const ExtendedFields = ibv.WCFieldOpcode | ibv.WCFieldByteLen | ibv.WCFieldWCFlags | ibv.WCFieldQPNum

const (
	extendedOps   = ibv.QPExWithRDMAWrite
	extendedFlags = ibv.WCExWithByteLen | ibv.WCExWithQPNum
	extendedSends = 256
	extendedRoom  = 1024
)

// extended is an Extended with what it is made of: two queue pairs, each its own peer.
// What the second one writes completes on the extended queue.
type extended struct {
	Extended
	sendCQ, filledCQ *ibv.CQ
	loop, filler     *ibv.QP
	poll             *ibv.ExtendedPoll
	wcs              []ibv.ExtendedWC
	fill             *ibv.SendChain
	mr               *ibv.MR
}

// Extended is nil where the provider knows no extended objects.
func (d *real) Extended() (*Extended, error) {
	if d.extended == nil {
		e := new(extended)
		if err := e.open(d); err != nil {
			closing := e.close()
			if errors.Is(err, errors.ErrUnsupported) {
				err = nil
			}
			return nil, errors.Join(err, closing)
		}
		d.extended = e
	}
	return &d.extended.Extended, nil
}

func (e *extended) open(d *real) (err error) {
	const rights = ibv.AccessLocalWrite | ibv.AccessRemoteWrite
	if e.mr, err = d.pd.RegMR(d.buf, rights); err != nil {
		return err
	}
	if e.sendCQ, err = d.ctx.CreateCQ(extendedSends); err != nil {
		return err
	}
	if e.CQ, err = d.ctx.CreateCQEx(&ibv.CQInitAttrEx{CQE: extendedRoom, WCFlags: uint64(extendedFlags)}); err != nil {
		return err
	}
	e.filledCQ = e.CQ.CQ()
	if e.loop, err = d.looped(e.sendCQ, rights); err != nil {
		return err
	}
	if e.QP, err = e.loop.Ex(); err != nil {
		return err
	}
	if e.filler, err = d.looped(e.filledCQ, rights); err != nil {
		return err
	}
	if e.poll, err = ibv.NewExtendedPoll(e.CQ, 0); err != nil {
		return err
	}
	e.wcs = make([]ibv.ExtendedWC, 64)
	e.SGE = e.mr.SGE(0, 64)
	e.Addr, e.RKey = uint64(e.mr.Addr)+uint64(len(d.buf))/2, e.mr.RKey
	if e.fill, err = ibv.NewSendChain(extendedSends, 1); err != nil {
		return err
	}
	for i := range extendedSends {
		if err := e.fill.SetRDMA(i, uint64(i), ibv.WRRDMAWrite, ibv.SendSignaled, e.SGE, e.Addr, e.RKey); err != nil {
			return err
		}
	}
	e.Handles = &ExtendedHandles{}
	if e.Handles.QP, err = d.domain.AdoptQP(e.loop, rdma.QPOptions{}); err != nil {
		return err
	}
	if e.Handles.CQ, err = d.dev.AdoptCQ(e.filledCQ, rdma.CQOptions{Fields: ExtendedFields}); err != nil {
		return err
	}
	e.SendRoom, e.CQRoom = extendedSends, extendedRoom
	e.TakeSends = func(n int) error { return d.poll(e.sendCQ, n) }
	e.Complete, e.Drop = e.complete, e.drop
	return nil
}

// looped makes an extended queue pair that is its own peer.
func (d *real) looped(cq *ibv.CQ, rights ibv.AccessFlags) (*ibv.QP, error) {
	qp, err := d.ctx.CreateQPEx(&ibv.QPInitAttrEx{
		SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, PD: d.pd,
		Cap:      ibv.QPCap{MaxSendWR: extendedSends, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, SendOpsFlags: uint64(extendedOps),
	})
	if err != nil {
		return nil, err
	}
	if err := d.connectRC(qp, qp.QPNum, rights); err != nil {
		return nil, errors.Join(err, qp.Close())
	}
	return qp, nil
}

// complete has n writes done, a queue full at a time.
func (e *extended) complete(n int) error {
	for n > 0 {
		k := min(n, extendedSends)
		if accepted, err := e.fill.PostRange(e.filler, 0, k); err != nil {
			return fmt.Errorf("%d of %d posted: %w", accepted, k, err)
		}
		// Soft-RoCE may write in a thread of the kernel's, which needs a processor too.
		time.Sleep(flushing)
		n -= k
	}
	return nil
}

func (e *extended) drop() error { return dropExtended(e.poll, e.wcs) }

// dropExtended takes completions off a queue until there are none.
func dropExtended(poll *ibv.ExtendedPoll, wcs []ibv.ExtendedWC) error {
	for {
		if n, err := poll.Poll(wcs); n == 0 || err != nil {
			return err
		}
	}
}

// close closes what there is.
func (e *extended) close() error {
	if e == nil {
		return nil
	}
	var errs []error
	if h := e.Handles; h != nil {
		if h.QP != nil {
			errs = append(errs, h.QP.Close())
		}
		if h.CQ != nil {
			errs = append(errs, h.CQ.Close())
		}
	}
	for _, qp := range []*ibv.QP{e.loop, e.filler} {
		if qp != nil {
			errs = append(errs, qp.Close())
		}
	}
	for _, cq := range []*ibv.CQ{e.sendCQ, e.filledCQ} {
		if cq != nil {
			errs = append(errs, cq.Close())
		}
	}
	if e.mr != nil {
		errs = append(errs, e.mr.Close())
	}
	return errors.Join(errs...)
}
