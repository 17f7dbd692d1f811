package rdma

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// QP is a queue pair. Any goroutine may post to it, and use it otherwise; but who
// closes it sees to it that nobody does so at the same time.
type QP struct {
	_ noCopy

	send  ibv.SendPoster
	recv  ibv.RecvPoster
	batch batchQueue

	checked        *checkedQP   // in checked mode
	room           *checkedRoom // in checked mode
	raw            *ibv.QP
	typ            ibv.QPType
	l              *life
	pd             *PD
	sendCQ, recvCQ *CQ
	srq            *SRQ
	cap            ibv.QPCap // what it really has
	number         uint32
	rings          hooks // of rings on it
	signalAll      bool
	sendOps        sendOps
	initial        initial
	connecting     atomic.Pointer[context.CancelCauseFunc] // of the Connect under way
	watched        *watched                                // to peers, which it watches
}

// CreateQP makes a queue pair, and moves it to INIT, so that receives can be posted
// before there is a peer. It stays in RESET if the options ask for that, on iWARP,
// and if it is of a type whose states this package does not know. The caller closes
// it. After an error there is none.
//
// C: ibv_create_qp(3), ibv_modify_qp(3)
func (pd *PD) CreateQP(opts QPOptions) (*QP, error) {
	l, err := begin("queue pair", opts.parents(pd)...)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	attr := opts.attr()
	attr.QPContext = l.subjectNumber(0)
	room, err := reserve(&opts, attr.Cap)
	if err != nil {
		return nil, err
	}
	raw, err := opts.create(pd.raw, &attr)
	if err != nil {
		room.release()
		return nil, err
	}
	var initial initial
	if !opts.Reset {
		if initial, err = opts.initial(pd.dev, raw); err == nil {
			err = initial.move(raw)
		}
	}
	if err != nil {
		room.release()
		err = errors.Join(err, raw.Close())
		return nil, err
	}
	qp := &QP{
		room: room, raw: raw, typ: raw.QPType, l: l, pd: pd, sendCQ: opts.SendCQ, recvCQ: opts.RecvCQ, srq: opts.SRQ,
		cap: attr.Cap, signalAll: opts.SignalAll, sendOps: opts.SendOps, initial: initial,
	}
	qp.begin(raw.Close)
	return qp, nil
}

// AdoptQP makes a handle of a queue pair in the protection domain that something
// else has made, and that it closes, after the handle. Of the options, SendCQ, RecvCQ
// and SRQ are the queue pair's own, as far as there are handles of them; the others
// do nothing. Rings need the completion queue.
func (pd *PD) AdoptQP(raw *ibv.QP, opts QPOptions) (*QP, error) {
	l, err := beginAdopted("queue pair", raw, func(raw *ibv.QP) *ibv.Context { return raw.Context }, opts.parents(pd)...)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	var made ibv.QPInitAttr
	if foreign := opts.foreign(raw); foreign != "" {
		err = l.failed("adopt", syscall.EINVAL, "it has another "+foreign+" than the options")
	} else {
		_, made, err = raw.Query(ibv.QPAttrMaskCap)
	}
	if err != nil {
		return nil, err
	}
	qp := &QP{
		raw: raw, typ: raw.QPType, l: l, pd: pd, sendCQ: opts.SendCQ, recvCQ: opts.RecvCQ, srq: opts.SRQ,
		cap: made.Cap, signalAll: made.SQSigAll != 0,
	}
	l.subjectNumber(uintptr(unsafe.Pointer(raw))) // safe: only the number is kept
	qp.begin(nil)
	return qp, nil
}

// begin binds the hot calls, and begins the lifetime.
func (qp *QP) begin(destroy func() error) {
	qp.number = qp.raw.QPNum
	qp.send, qp.recv = qp.raw.SendPoster(), qp.raw.RecvPoster()
	qp.batch = newBatchQueue(qp.raw, qp.l, qp.sendOps, destroy == nil)
	destroy = qp.check(destroy)
	watched := &watched{raw: qp.raw}
	qp.watched = watched
	live(qp.l, qp, fmt.Sprintf("%#x", qp.raw.QPNum), func() error { return watched.destroy(destroy) }, (*QP).retire)
}

// retire has the hot calls return ErrClosed, until they are revived.
func (qp *QP) retire() (revive func()) {
	send, recv, l := qp.send, qp.recv, qp.l
	qp.send = ibv.NewSendPoster(func(*ibv.SendChain, int, int) (int, error) { return 0, l.check("post sends to") })
	qp.recv = ibv.NewRecvPoster(func(*ibv.RecvChain, int, int) (int, error) { return 0, l.check("post receives to") })
	if cancel := qp.connecting.Load(); cancel != nil {
		(*cancel)(ErrClosed)
	}
	ringsBack, batchesBack := qp.rings.stop(), qp.batch.retire(l)
	return func() {
		qp.send, qp.recv = send, recv
		ringsBack()
		batchesBack()
	}
}

// PostSend posts a chain to the send queue: see [ibv.SendChain.Post].
func (qp *QP) PostSend(c *ibv.SendChain) (accepted int, err error) { return qp.send.Whole(c, 0, 0) }

// PostSendRange posts a part of a chain: see [ibv.SendChain.PostRange].
func (qp *QP) PostSendRange(c *ibv.SendChain, first, end int) (accepted int, err error) {
	return qp.send.Part(c, first, end)
}

// PostRecv posts a chain to the receive queue: see [ibv.RecvChain.Post].
func (qp *QP) PostRecv(c *ibv.RecvChain) (accepted int, err error) { return qp.recv.Whole(c, 0, 0) }

// PostRecvRange posts a part of a chain: see [ibv.RecvChain.PostRange].
func (qp *QP) PostRecvRange(c *ibv.RecvChain, first, end int) (accepted int, err error) {
	return qp.recv.Part(c, first, end)
}

// unknownState reports whether the library does not know its state: librdmacm brings
// those of iWARP to RTS.
func (qp *QP) unknownState() bool { return qp.raw.Context.Device.IsIWARP() }

// PD is the protection domain that it is in.
func (qp *QP) PD() *PD { return qp.pd }

// Cap is how much it really has room for, which may be more than was asked for.
func (qp *QP) Cap() ibv.QPCap { return qp.cap }

// Raw is C's object, valid until Close.
func (qp *QP) Raw() *ibv.QP {
	qp.l.expose(qp.sendCQ.lifetime(), qp.recvCQ.lifetime(), qp.srq.lifetime())
	return qp.raw
}

// Close destroys the queue pair: see [Object].
func (qp *QP) Close() error { return qp.lifetime().close() }

// CloseAll is Close, for nothing is made from a queue pair.
func (qp *QP) CloseAll() error { return qp.lifetime().closeAll() }

// String is the kind, the number and the device.
func (qp *QP) String() string { return qp.lifetime().text() }

func (qp *QP) lifetime() *life {
	if qp == nil {
		return nil
	}
	return qp.l
}
