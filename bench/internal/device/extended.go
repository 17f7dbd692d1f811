package device

import (
	"errors"
	"fmt"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// Extended is a queue pair and a completion queue with C's extended functions.
type Extended struct {
	QP   *ibv.QPEx // takes RDMA writes
	CQ   *ibv.CQEx
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

const (
	extendedOps   = ibv.QPExWithRDMAWrite
	extendedFlags = ibv.WCExWithByteLen | ibv.WCExWithQPNum
	extendedSends = 256
	extendedRecvs = 4096
)

// extended is an Extended with what it is made of: a queue pair that is its own peer,
// and another one that stays in INIT, whose receives complete on the extended queue.
type extended struct {
	Extended
	sendCQ, recvCQ *ibv.CQ
	loop, idle     *ibv.QP
	poll           *ibv.ExtendedPoll
	wcs            []ibv.ExtendedWC
	fill           *ibv.RecvChain
	mr             *ibv.MR
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
	const psn, rights = 1, ibv.AccessLocalWrite | ibv.AccessRemoteWrite
	if e.mr, err = d.pd.RegMR(d.buf, rights); err != nil {
		return err
	}
	if e.sendCQ, err = d.ctx.CreateCQ(extendedSends); err != nil {
		return err
	}
	if e.CQ, err = d.ctx.CreateCQEx(&ibv.CQInitAttrEx{CQE: extendedRecvs, WCFlags: uint64(extendedFlags)}); err != nil {
		return err
	}
	e.recvCQ = e.CQ.CQ()
	if e.loop, err = d.ctx.CreateQPEx(&ibv.QPInitAttrEx{
		SendCQ: e.sendCQ, RecvCQ: e.sendCQ, QPType: ibv.QPTRC, PD: d.pd,
		Cap:      ibv.QPCap{MaxSendWR: extendedSends, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1},
		CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, SendOpsFlags: uint64(extendedOps),
	}); err != nil {
		return err
	}
	attr, err := d.ctx.QueryPort(port)
	if err != nil {
		return err
	}
	gid, err := d.ctx.BestGID(port)
	if err != nil {
		return err
	}
	path := ibv.Path{Port: port, GIDIndex: gid.GIDIndex, MTU: attr.ActiveMTU}
	if err := errors.Join(e.loop.ToInit(port, rights),
		e.loop.ToRTR(path, ibv.Peer{QPNum: e.loop.QPNum, PSN: psn, GID: gid.GID, LID: attr.LID}), e.loop.ToRTS(psn)); err != nil {
		return err
	}
	if e.QP, err = e.loop.Ex(); err != nil {
		return err
	}
	if e.idle, err = d.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: e.recvCQ, RecvCQ: e.recvCQ, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: extendedRecvs, MaxSendSGE: 1, MaxRecvSGE: 1},
	}); err != nil {
		return err
	}
	if err := e.idle.ToInit(port, ibv.AccessLocalWrite); err != nil {
		return err
	}
	if e.poll, err = ibv.NewExtendedPoll(e.CQ, 0); err != nil {
		return err
	}
	e.wcs, e.fill = make([]ibv.ExtendedWC, 64), d.fill
	e.SGE = e.mr.SGE(0, 64)
	e.Addr, e.RKey = uint64(e.mr.Addr)+uint64(len(d.buf))/2, e.mr.RKey
	e.SendRoom, e.CQRoom = extendedSends, extendedRecvs
	e.TakeSends = func(n int) error { return d.poll(e.sendCQ, n) }
	e.Complete, e.Drop = e.complete, e.drop
	return nil
}

// complete posts receives and moves their queue to the error state and back.
func (e *extended) complete(n int) error {
	if accepted, err := e.fill.PostRange(e.idle, 0, n); err != nil {
		return fmt.Errorf("%d of %d posted: %w", accepted, n, err)
	}
	if err := e.idle.ToErr(); err != nil {
		return err
	}
	time.Sleep(flushing) // as in real.Complete
	if err := e.idle.ToReset(); err != nil {
		return err
	}
	return e.idle.ToInit(port, ibv.AccessLocalWrite)
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
	for _, qp := range []*ibv.QP{e.loop, e.idle} {
		if qp != nil {
			errs = append(errs, qp.Close())
		}
	}
	for _, cq := range []*ibv.CQ{e.sendCQ, e.recvCQ} {
		if cq != nil {
			errs = append(errs, cq.Close())
		}
	}
	if e.mr != nil {
		errs = append(errs, e.mr.Close())
	}
	return errors.Join(errs...)
}
