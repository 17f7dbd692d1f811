package rdma

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"reflect"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// Connection is what [QP.Connect] has agreed with the peer.
type Connection struct {
	// Peer is the peer's queue pair.
	Peer Peer
	// Path is how it is reached. Its MTU is what both ends agreed on.
	Path Path
	// Data is the peer's [ConnectOptions].Data.
	Data []byte
	// Access is what the peer's queue pair lets this end do: see [QPOptions].Access.
	Access ibv.AccessFlags
	// Reads is how many RDMA reads and atomics of this end may be outstanding, and
	// PeerReads how many of the peer's.
	Reads, PeerReads int

	// AH is where the peer is, if the queue pair is of type UD, and QKey what sends to it
	// must know. The address handle is the program's: it closes it, after the sends that
	// name it have completed, or leaves that to CloseAll of the protection domain.
	AH   *AH
	QKey uint32

	// Ended is closed when conn has ended, or this end has closed its queue pair, and the
	// queue pair is in the error state then: see [ConnectOptions].Watch, without which it
	// is nil.
	Ended <-chan struct{}
}

// Connect connects the queue pair to one that a peer connects in the same way over
// the other end of conn: a TCP connection, a unix socket, TLS, or one end of
// net.Pipe. RC, UC and UD are connected so. Each end tells the other what it is,
// which MTU and how many RDMA reads it can do, and where its packet sequence numbers
// begin, at random. When Connect returns without an error, both ends are in RTS.
// There is no client and no server: both call Connect.
//
// The queue pair must be in INIT, where CreateQP leaves it, or in RESET, which
// Connect moves to INIT as CreateQP did. It did not if QPOptions.Reset was set, or
// the queue pair is adopted: then the program moves it to INIT. One of type UD may
// be in RTS: it can have many peers, and each Connect gives an address handle for
// one. When there is an error, the queue pair is in INIT as before, with its
// receives, if the ends have not come to an agreement; after that it is in the error
// state, where its receives complete as flushed. One of type UD stays in the state
// it has come to. In each of these cases [QP.ToReset] and another Connect begin
// anew.
//
// When ctx ends, Connect returns at once, with context.Cause(ctx), and so it does,
// with ErrClosed, when the queue pair is closed. A ctx without an end waits for the
// peer as long as it is silent. Meanwhile Connect sets the deadlines of conn, and
// clears them in the end. It reads no byte of what follows, so conn is the program's
// afterwards, without Watch; after an error it is of no use but to be closed. A peer that cannot be
// connected is told why, and so is this end: syscall.EPROTO is what it has said,
// which does not fit, and syscall.ECONNREFUSED that it has refused. Anything may be
// at the other end of conn, but Connect does not know who is: what makes sure of
// that is below it, as TLS.
//
// RC notices a peer that is dead, or out of reach, when it is sent to: the send
// completes with WCRetryExcErr after 3.8 s, or four times that on some devices;
// AckTimeout and Retries change that. There is no end of waiting for a peer that
// lives and has no receive posted: see [QP.ToRTS]. Who only receives notices
// nothing, and nor do UC and UD: for them, conn tells, for it ends with the peer's
// process. With [ConnectOptions].Watch, the queue pair sees to that by itself.
//
// iWARP is syscall.EOPNOTSUPP: its queue pairs are connected by librdmacm alone, and
// [PD.AdoptQP] makes handles of them.
//
// Any goroutine may call it, one at a time for a queue pair.
func (qp *QP) Connect(ctx context.Context, conn net.Conn, opts ConnectOptions) (*Connection, error) {
	if err := qp.lifetime().check("connect"); err != nil {
		return nil, err
	}
	t, invalid := opts.timing()
	switch {
	case ctx == nil:
		return nil, qp.invalidOptions(noContext)
	case isNil(conn):
		return nil, qp.invalidOptions("conn is nil: a byte stream to the peer is needed")
	case invalid != "":
		return nil, qp.invalidOptions(invalid)
	case qp.pd.dev.raw.Device.IsIWARP():
		return nil, qp.l.failed("connect", syscall.EOPNOTSUPP, "it is iWARP, where librdmacm alone connects queue pairs (rdma_connect, rdma_accept): PD.AdoptQP makes handles of them")
	case qpTypeNames[qp.typ] == "":
		return nil, qp.l.failed("connect", syscall.EOPNOTSUPP, fmt.Sprintf("it is of type %v: RC, UC and UD are connected so", qp.typ))
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if !qp.connecting.CompareAndSwap(nil, &cancel) {
		return nil, qp.l.failed("connect", syscall.EALREADY, "another goroutine is connecting it")
	}
	defer qp.connecting.Store(nil)

	c := connecting{qp: qp, opts: &opts, timing: t}
	if err := c.connect(ctx, conn); err != nil {
		return nil, c.failed(err)
	}
	return &c.result, nil
}

// isNil reports whether there is no stream: none at all, or one of a type such as
// *net.TCPConn that is a nil pointer.
func isNil(conn net.Conn) bool {
	v := reflect.ValueOf(conn)
	return !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil()
}

// connecting is a Connect under way.
type connecting struct {
	qp     *QP
	opts   *ConnectOptions
	timing timing

	state  ibv.QPState // where the queue pair is
	port   ibv.PortAttr
	from   ibv.GIDEntry
	mine   hello
	agreed bool // the queue pair has been, or should have been, moved on from INIT
	result Connection
}

func (c *connecting) connect(ctx context.Context, conn net.Conn) error {
	if err := c.prepare(); err != nil {
		return err
	}
	if c.opts.Ready != nil {
		if err := c.opts.Ready(); err != nil {
			return err
		}
	}
	if err := shake(ctx, conn, &c.mine, c.up); err != nil || !c.opts.Watch {
		return err
	}
	return c.qp.l.during("connect", func() error {
		c.result.Ended = c.qp.watched.watch(conn)
		return nil
	})
}

// prepare finds out what the queue pair is, and moves it to INIT.
func (c *connecting) prepare() error {
	return c.qp.l.during("connect", func() error {
		raw, dev := c.qp.raw, c.qp.pd.dev
		const mask = ibv.QPAttrMaskState | ibv.QPAttrMaskPort | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskQKey
		attr, _, err := raw.Query(mask)
		if err != nil {
			return err
		}
		if attr.QPState == ibv.QPSReset && c.qp.initial.port != 0 {
			if err := c.qp.initial.move(raw); err != nil {
				return err
			}
			if attr, _, err = raw.Query(mask); err != nil {
				return err
			}
		}
		switch c.state = attr.QPState; {
		case c.state == ibv.QPSReset:
			return &hinted{syscall.EINVAL, "it is in RESET, and only who made it knows how to move it to INIT: use ToInit or ToInitUD"}
		case c.state != ibv.QPSInit && (c.qp.typ != ibv.QPTUD || c.state != ibv.QPSRTS):
			return &hinted{syscall.EISCONN, fmt.Sprintf("it is in %v, and may have a peer: ToReset takes it back", c.state)}
		}
		port := uint32(attr.PortNum)
		if c.port, err = dev.raw.QueryPort(port); err != nil {
			return err
		}
		if c.port.State != ibv.PortActive {
			return &hinted{syscall.ENETDOWN, fmt.Sprintf("port %d is in %v: see to its network interface or cable", port, c.port.State)}
		}
		choice := c.opts.GID
		if choice.Port == 0 {
			choice.Port = port
		}
		if choice.Port != port {
			return &hinted{syscall.EINVAL, fmt.Sprintf("ConnectOptions.GID is of port %d, and the queue pair of port %d: see QPOptions.Port", choice.Port, port)}
		}
		if c.from, err = dev.chooseGID(choice); err != nil {
			return err
		}
		if c.from.GIDIndex > math.MaxUint8 {
			return &hinted{syscall.EINVAL, fmt.Sprintf("ConnectOptions.GID is at index %d, and packets are sent from 0 to 255", c.from.GIDIndex)}
		}
		return c.describe(attr)
	})
}

// describe makes the hello.
func (c *connecting) describe(attr ibv.QPAttr) error {
	limits, err := c.qp.pd.dev.raw.QueryDevice()
	if err != nil {
		return err
	}
	mtu := c.opts.MTU
	switch {
	case mtu == 0:
		mtu = c.port.ActiveMTU
	case mtu > c.port.ActiveMTU:
		return &hinted{syscall.EINVAL, fmt.Sprintf("ConnectOptions.MTU is %v, and the port has %v", mtu, c.port.ActiveMTU)}
	}
	within := func(limit int32) uint8 { return uint8(min(int32(c.timing.reads), max(limit, 0))) }
	c.mine = hello{
		typ: c.qp.typ, link: c.port.LinkLayer, mtu: mtu, kind: c.from.GIDType,
		reads: within(limits.MaxQPRdAtom), asks: within(limits.MaxQPInitRdAtom),
		access: attr.QPAccessFlags, qkey: attr.QKey,
		peer: Peer{QPNum: c.qp.number, PSN: randomPSN(), GID: c.from.GID, LID: c.port.LID},
		data: c.opts.Data,
	}
	if c.mine.link == ibv.LinkLayerUnspecified {
		c.mine.link = ibv.LinkLayerInfiniband // of drivers that are older than the other one
	}
	_, _ = rand.Read(c.mine.nonce[:]) // never fails
	return nil
}

// randomPSN is where sequence numbers begin, so that packets of an earlier connection
// are strangers.
func randomPSN() uint32 {
	var b [4]byte
	_, _ = rand.Read(b[:])
	return binary.NativeEndian.Uint32(b[:]) & max24
}

// up brings the queue pair to RTS, with a peer that fits.
func (c *connecting) up(peer *hello) error {
	a, err := c.mine.agree(peer)
	if err != nil {
		return err
	}
	c.agreed = true
	c.result = Connection{
		Peer: peer.peer, Data: peer.data, Access: peer.access, Reads: int(a.asks), PeerReads: int(a.reads),
		Path: Path{Port: c.from.PortNum, GIDIndex: c.from.GIDIndex, MTU: a.mtu},
	}
	if c.qp.typ == ibv.QPTUD {
		return c.upUD(peer, a)
	}
	if err := c.qp.move(ibv.QPSInit, rtrAttr(c.result.Path, a.peer, a.reads, c.timing.rnrTimer)); err != nil {
		return err
	}
	return c.qp.move(ibv.QPSRTR, &ibv.QPAttr{
		QPState: ibv.QPSRTS, SQPSN: c.mine.peer.PSN, MaxRdAtomic: a.asks,
		Timeout: c.timing.ackTimeout, RetryCnt: c.timing.retries, RNRRetry: c.timing.rnrRetries,
	})
}

func (c *connecting) upUD(peer *hello, a agreement) (err error) {
	c.result.QKey, c.result.Reads, c.result.PeerReads = peer.qkey, 0, 0
	if c.state == ibv.QPSInit {
		if err := c.qp.ToRTRUD(); err != nil {
			return err
		}
		if err := c.qp.ToRTSUD(c.mine.peer.PSN); err != nil {
			return err
		}
	}
	c.result.AH, err = c.qp.pd.CreateAH(AHOptions{GID: a.peer.GID, LID: a.peer.LID, From: c.from})
	return err
}

// failed leaves the queue pair in a state that is known, and says what has happened.
func (c *connecting) failed(err error) error {
	if c.result.AH != nil {
		err = errors.Join(err, c.result.AH.Close())
	}
	if c.agreed && c.qp.typ != ibv.QPTUD {
		if failed := c.qp.ToErr(); failed != nil && !errors.Is(failed, ErrClosed) {
			err = errors.Join(err, failed)
		}
	}
	var h *hinted
	if errors.As(err, &h) {
		return c.qp.l.failed("connect", h.errno, h.hint)
	}
	return c.qp.l.failed("connect", err, "")
}

// hinted is a reason with what to do about it, for an Error.
type hinted struct {
	errno syscall.Errno
	hint  string
}

func (h *hinted) Error() string { return h.hint }
