//go:build device

// Package device tests the binding on a real RDMA device: rxe0, the Soft-RoCE
// device of the guest that test/softroce starts.
package device

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

const (
	deviceName = "rxe0"
	port       = 1
	// patience is how long a completion may take: the guest is emulated, and its
	// host is busy.
	patience = 60 * time.Second
	slot     = 4096 // bytes of a buffer for each message
	access   = ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead
)

// rig is an open device with what every test needs.
type rig struct {
	t   *testing.T
	ctx *ibv.Context
	pd  *ibv.PD
	gid ibv.GIDEntry
	mtu ibv.MTU
}

func newRig(t *testing.T) *rig {
	t.Helper()
	return newRigOn(t, deviceName)
}

func newRigOn(t *testing.T, name string) *rig {
	t.Helper()
	ctx, err := ibv.Open(name)
	require.NoError(t, err, "these tests need the device %s: run them in a guest, make test-vm or make test-uml", name)
	r := &rig{t: t, ctx: ctx}
	t.Cleanup(func() { require.NoError(t, ctx.Close()) })
	r.pd, err = ctx.AllocPD()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, r.pd.Close()) })
	r.gid, err = ctx.BestGID(port)
	require.NoError(t, err)
	attr, err := ctx.QueryPort(port)
	require.NoError(t, err)
	r.mtu = attr.ActiveMTU
	return r
}

// memory is a registered buffer of n slots.
func (r *rig) memory(n int) *ibv.MR {
	r.t.Helper()
	buf, err := ibv.AllocBuffer(n * slot)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, buf.Free()) })
	mr, err := r.pd.RegMR(buf, access)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, mr.Close()) })
	return mr
}

func (r *rig) cq(entries int) *ibv.CQ {
	r.t.Helper()
	cq, err := r.ctx.CreateCQ(entries)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, cq.Close()) })
	return cq
}

// side is a queue pair with completion queues of its own.
type side struct {
	*ibv.QP
	send, recv *ibv.CQ
	cap        ibv.QPCap
}

func (r *rig) side(typ ibv.QPType, sends, recvs uint32, srq *ibv.SRQ) side {
	r.t.Helper()
	s := side{send: r.cq(2 * int(sends+1)), recv: r.cq(4 * int(recvs+1))}
	attr := ibv.QPInitAttr{
		SendCQ: s.send, RecvCQ: s.recv, SRQ: srq, QPType: typ,
		Cap: ibv.QPCap{MaxSendWR: sends, MaxRecvWR: recvs, MaxSendSGE: 4, MaxRecvSGE: 4, MaxInlineData: 64},
	}
	var err error
	s.QP, err = r.pd.CreateQP(&attr)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, s.QP.Close()) })
	s.cap = attr.Cap
	return s
}

// connect brings two RC queue pairs to RTS, each the peer of the other.
func (r *rig) connect(a, b *ibv.QP) {
	r.t.Helper()
	r.connectFor(a, b, access)
}

// connectFor is connect for queue pairs that let the peer do so much.
func (r *rig) connectFor(a, b *ibv.QP, access ibv.AccessFlags) {
	r.t.Helper()
	for _, qp := range []*ibv.QP{a, b} {
		require.NoError(r.t, toInit(qp, access))
	}
	for _, ends := range [][2]*ibv.QP{{a, b}, {b, a}} {
		require.NoError(r.t, r.toRTR(ends[0], ends[1].QPNum))
		require.NoError(r.t, toRTS(ends[0]))
	}
}

// pair is a connected sender and receiver.
func (r *rig) pair(sends, recvs uint32) (sender, receiver side) {
	r.t.Helper()
	sender, receiver = r.side(ibv.QPTRC, sends, 1, nil), r.side(ibv.QPTRC, 1, recvs, nil)
	r.connect(sender.QP, receiver.QP)
	return sender, receiver
}

// recvChain is a chain of n receives into the first n slots of mr.
func (r *rig) recvChain(n int, mr *ibv.MR) *ibv.RecvChain {
	r.t.Helper()
	chain, err := ibv.NewRecvChain(n, 1)
	require.NoError(r.t, err)
	for i := range n {
		require.NoError(r.t, chain.Set(i, uint64(i), mr.SGE(i*slot, slot)))
	}
	return chain
}

// sendChain is a chain of n signalled sends of length(i) bytes from the first n
// slots of mr.
func (r *rig) sendChain(n int, mr *ibv.MR, length func(i int) int) *ibv.SendChain {
	r.t.Helper()
	chain, err := ibv.NewSendChain(n, 1)
	require.NoError(r.t, err)
	for i := range n {
		require.NoError(r.t, chain.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, mr.SGE(i*slot, length(i))))
	}
	return chain
}

// poll takes exactly n completions off the queue, all successes.
func (r *rig) poll(cq *ibv.CQ, n int) []ibv.WC {
	r.t.Helper()
	wcs := r.pollAny(cq, n)
	for i := range wcs {
		require.NoError(r.t, wcs[i].Err())
	}
	return wcs
}

// pollAny takes exactly n completions off the queue.
func (r *rig) pollAny(cq *ibv.CQ, n int) []ibv.WC {
	r.t.Helper()
	wcs := make([]ibv.WC, n)
	deadline := time.Now().Add(patience)
	for got := 0; got < n; {
		k, err := cq.Poll(wcs[got:])
		require.NoError(r.t, err)
		got += k
		if k == 0 {
			require.True(r.t, time.Now().Before(deadline), "%d of %d completions after %v", got, n, patience)
		}
	}
	return wcs
}

// quiet checks that the queue stays empty.
func (r *rig) quiet(cq *ibv.CQ) {
	r.t.Helper()
	wcs := make([]ibv.WC, 1)
	for range 100 {
		n, err := cq.Poll(wcs)
		require.NoError(r.t, err)
		require.Zero(r.t, n, "a completion that nobody expects: %v", wcs[0])
	}
}

// bytesOf is slot i of a memory region.
func bytesOf(mr *ibv.MR, i int) []byte { return mr.Bytes()[i*slot : (i+1)*slot] }

// fill writes a pattern that tells messages, and places in them, apart.
func fill(b []byte, message uint64) {
	for i := range b {
		b[i] = byte(uint64(i)*31 + message*7 + 1)
	}
	if len(b) >= 8 {
		binary.LittleEndian.PutUint64(b, message)
	}
}

// requireFilled checks the pattern, and that what follows it was not touched.
func requireFilled(t *testing.T, b []byte, length int, message uint64, untouched byte) {
	t.Helper()
	want := make([]byte, length)
	fill(want, message)
	require.Equal(t, want, b[:length], "message %d", message)
	require.Equal(t, len(b)-length, bytes.Count(b[length:], []byte{untouched}), "bytes behind message %d", message)
}

// wipe sets all bytes to one value.
func wipe(b []byte, v byte) {
	for i := range b {
		b[i] = v
	}
}

// requireNoAllocations requires that a post or a poll allocates nothing, but for
// what the portable way itself takes.
func requireNoAllocations(t *testing.T, call func(), why ...any) {
	t.Helper()
	most := 0.0
	if !ibv.DirectCalls() {
		most = 2
	}
	require.LessOrEqual(t, testing.AllocsPerRun(100, call), most, why...)
}
