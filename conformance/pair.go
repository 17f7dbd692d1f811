package conformance

import (
	"cmp"
	"sync/atomic"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// PairOptions are what queue pairs are made and connected with.
type PairOptions struct {
	// Type is RC if it is 0.
	Type ibv.QPType
	// Cap is how large the queues are. What is 0 is 16 work requests, and 4 entries each.
	Cap ibv.QPCap
	// Access is what each may do to the other's memory; 0 is all that the device has.
	Access ibv.AccessFlags
	// Make changes what a queue pair is made with: of a first and then of b. What it sets
	// for completion queues is taken in place of those that the rig makes.
	Make func(end int, opts *rdma.QPOptions)
	// Move changes what a queue pair moves to RTR and to RTS with, which is nothing on
	// iWARP.
	Move func(end int, attr *ibv.QPAttr)
	// Memory is how many bytes each end's region has; 0 is 16384.
	Memory int
}

// End is a queue pair with completion queues and memory of its own.
type End struct {
	*rdma.QP
	// SendCQ and RecvCQ are its completion queues.
	SendCQ, RecvCQ *rdma.CQ
	// Memory is a region that lets the peer do anything.
	Memory *rdma.Region

	t *T
}

// firstPSN is the packet sequence numbers that the two ends of a pair start with.
var firstPSN = [2]uint32{0xfffffe, 0x123456} // one wraps around soon

// Pair is two queue pairs in RTS that are each other's peer. UD has no peers: they can
// just send. On iWARP librdmacm connects them, and a is the active side, which iWARP
// has speak first.
func (t *T) Pair(opts PairOptions) (a, b *End) {
	a, b = t.end(0, opts), t.end(1, opts)
	t.Connect(a, b, opts)
	return a, b
}

// Unconnected is Pair before it is connected.
func (t *T) Unconnected(opts PairOptions) (a, b *End) { return t.end(0, opts), t.end(1, opts) }

// end makes an end, which is in INIT, or on iWARP in a state that nobody tells.
func (t *T) end(number int, opts PairOptions) *End {
	made := rdma.QPOptions{Type: opts.Type, Access: cmp.Or(opts.Access, t.All()), Cap: opts.Cap, Port: t.GID().PortNum}
	made.Cap.MaxSendWR = cmp.Or(made.Cap.MaxSendWR, 16)
	made.Cap.MaxRecvWR = cmp.Or(made.Cap.MaxRecvWR, 16)
	made.Cap.MaxSendSGE = cmp.Or(made.Cap.MaxSendSGE, 4)
	made.Cap.MaxRecvSGE = cmp.Or(made.Cap.MaxRecvSGE, 4)
	if opts.Make != nil {
		opts.Make(number, &made)
	}
	// Queues take up to twice what was asked for.
	if made.SendCQ == nil {
		made.SendCQ = t.CQ(2*int(made.Cap.MaxSendWR+1), rdma.CQOptions{NoChannel: true})
	}
	if made.RecvCQ == nil {
		made.RecvCQ = t.CQ(2*int(made.Cap.MaxRecvWR+1), rdma.CQOptions{NoChannel: true})
	}
	qp, err := t.PD().CreateQP(made)
	require.NoError(t, err)
	return &End{QP: qp, SendCQ: made.SendCQ, RecvCQ: made.RecvCQ, Memory: t.Region(cmp.Or(opts.Memory, 16384), 0), t: t}
}

// Connect brings two ends that were made with the options to RTS.
func (t *T) Connect(a, b *End, opts PairOptions) {
	if t.provider.IWARP {
		t.connectIWARP(a, b)
		return
	}
	for i, e := range []*End{a, b} {
		peer := b
		if i == 1 {
			peer = a
		}
		e.BecomeRTR(i, peer, opts.Move)
		e.BecomeRTS(i, opts.Move)
	}
}

// BecomeRTR moves the end, number 0 or 1 of a pair, from INIT to RTR.
func (e *End) BecomeRTR(number int, peer *End, change func(int, *ibv.QPAttr)) {
	attr := &ibv.QPAttr{QPState: ibv.QPSRTR}
	if e.Type() != ibv.QPTUD {
		gid, port := e.t.GID(), e.t.Port()
		attr.PathMTU, attr.DestQPNum, attr.RQPSN = port.ActiveMTU, peer.Number(), firstPSN[1-number]
		attr.MaxDestRdAtomic, attr.MinRNRTimer = 1, 1
		attr.AHAttr = ibv.AHAttr{
			DLID: port.LID, PortNum: uint8(gid.PortNum), IsGlobal: 1,
			GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64},
		}
	}
	e.move(ibv.QPSInit, number, attr, change)
}

// BecomeRTS moves the end from RTR to RTS.
func (e *End) BecomeRTS(number int, change func(int, *ibv.QPAttr)) {
	e.move(ibv.QPSRTR, number, &ibv.QPAttr{
		QPState: ibv.QPSRTS, SQPSN: firstPSN[number], Timeout: 14, RetryCnt: 6, RNRRetry: 7, MaxRdAtomic: 1,
	}, change)
}

func (e *End) move(from ibv.QPState, number int, attr *ibv.QPAttr, change func(int, *ibv.QPAttr)) {
	if change != nil {
		change(number, attr)
	}
	require.NoError(e.t, e.Modify(attr, e.Type().Needs(from, attr.QPState)))
}

// Post posts all sends.
func (e *End) Post(sends *ibv.SendChain) {
	_, err := e.PostSend(sends)
	require.NoError(e.t, err)
}

// Expect posts all receives.
func (e *End) Expect(recvs *ibv.RecvChain) {
	_, err := e.PostRecv(recvs)
	require.NoError(e.t, err)
}

// Buffers posts n receives of size bytes, one behind the other from the start of Memory.
func (e *End) Buffers(n, size int) {
	recvs, err := e.Memory.RecvChain(n, size)
	require.NoError(e.t, err)
	e.Expect(recvs)
}

// Slot is size bytes of Memory, number i of such.
func (e *End) Slot(i, size int) []byte { return e.Memory.Bytes()[i*size : (i+1)*size] }

// word is 8 bytes of Memory, which a peer may be writing.
func (e *End) word(at int) uint64 {
	// Safe: these are 8 bytes, and whoever calls has them aligned: regions begin with a page.
	return atomic.LoadUint64((*uint64)(unsafe.Pointer(unsafe.SliceData(e.Memory.Bytes()[at:][:8]))))
}

// Fill writes a pattern that tells messages, and places in them, apart.
func Fill(b []byte, message int) {
	for i := range b {
		b[i] = byte(i*31 + i>>8 + message*7 + 1)
	}
}

// Send posts one work request that needs no more than entries.
func (e *End) Send(wrID uint64, opcode ibv.WROpcode, flags ibv.SendFlags, sges ...ibv.SGE) {
	sends := e.t.Sends(1, len(sges))
	require.NoError(e.t, sends.Set(0, wrID, opcode, flags, sges...))
	e.Post(sends)
}

// RDMA posts one write or read.
func (e *End) RDMA(wrID uint64, opcode ibv.WROpcode, flags ibv.SendFlags, to rdma.Remote, sges ...ibv.SGE) {
	sends := e.t.Sends(1, len(sges))
	require.NoError(e.t, sends.Set(0, wrID, opcode, flags, sges...))
	*sends.WR(0).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: to.Addr, RKey: to.RKey}
	e.Post(sends)
}

// Remote is a part of Memory for the peer.
func (e *End) Remote(offset, length int) rdma.Remote {
	remote, err := e.Memory.Remote(offset, length)
	require.NoError(e.t, err)
	return remote
}
