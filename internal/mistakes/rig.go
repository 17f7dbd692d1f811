// Package mistakes has each mistake once that checked mode of package rdma finds, for tests of that on the host and on
// devices.
package mistakes

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Rig is a device to make mistakes with. It closes nothing.
type Rig struct {
	T      testing.TB
	Device *rdma.Device
	PD     *rdma.PD
	// Prepare is told of what is made next, or nil.
	Prepare Preparer
	// QP makes a queue pair, and moves it to a state: RESET, INIT or RTS.
	QP   func(pd *rdma.PD, opts rdma.QPOptions, state ibv.QPState) *rdma.QP
	From ibv.GIDEntry // its port
	// Entries is how many completions a queue really has room for that was asked for
	// some.
	Entries func(asked int) int
	// Receives is the same of a shared receive queue: kernels since 6.12 give
	// Soft-RoCE's more.
	Receives func(asked int) int
	// Longest is how long a message may be, and on UD.
	Longest, LongestUD int
}

// Preparer is told of what is made next, with what makes it.
type Preparer interface {
	PD()
	CQ(entries int)
	SRQ()
	Region(memory []byte)
	AH()
}

// New makes a rig's protection domain.
func (r *Rig) New() {
	r.PD = r.pd()
}

func (r *Rig) pd() *rdma.PD {
	if r.Prepare != nil {
		r.Prepare.PD()
	}
	pd, err := r.Device.AllocPD()
	require.NoError(r.T, err)
	return pd
}

func (r *Rig) cq(entries int) *rdma.CQ {
	if r.Prepare != nil {
		r.Prepare.CQ(entries)
	}
	cq, err := r.Device.CreateCQ(entries, rdma.CQOptions{NoChannel: true})
	require.NoError(r.T, err)
	return cq
}

// qp is a queue pair with a completion queue that is large enough. Its queues hold 4
// work requests each, of 2 entries, if opts does not say otherwise.
func (r *Rig) qp(state ibv.QPState, opts rdma.QPOptions) *rdma.QP {
	if opts.Cap == (ibv.QPCap{}) {
		opts.Cap = ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 32}
	}
	opts.SendCQ = r.cq(64)
	opts.RecvCQ = opts.SendCQ
	return r.QP(r.PD, opts, state)
}

func (r *Rig) rts() *rdma.QP { return r.qp(ibv.QPSRTS, rdma.QPOptions{}) }
func (r *Rig) ud() *rdma.QP  { return r.qp(ibv.QPSRTS, rdma.QPOptions{Type: ibv.QPTUD}) }
func (r *Rig) uc() *rdma.QP  { return r.qp(ibv.QPSRTS, rdma.QPOptions{Type: ibv.QPTUC}) }

func (r *Rig) srq(wrs, sges int) *rdma.SRQ {
	if r.Prepare != nil {
		r.Prepare.SRQ()
	}
	srq, err := r.PD.CreateSRQ(wrs, rdma.SRQOptions{MaxSGE: sges})
	require.NoError(r.T, err)
	return srq
}

// ah is an address handle that leads to the device itself.
func (r *Rig) ah(pd *rdma.PD) *rdma.AH {
	if r.Prepare != nil {
		r.Prepare.AH()
	}
	ah, err := pd.CreateAH(rdma.AHOptions{GID: r.From.GID, From: r.From})
	require.NoError(r.T, err)
	return ah
}

func (r *Rig) region(size int) *rdma.Region { return r.regionFor(r.PD, size, ibv.AccessLocalWrite) }

func (r *Rig) regionFor(pd *rdma.PD, size int, access ibv.AccessFlags) *rdma.Region {
	memory := make([]byte, size)
	if r.Prepare != nil {
		r.Prepare.Region(memory)
	}
	region, err := pd.Register(memory, access)
	require.NoError(r.T, err)
	return region
}

// recvs is a chain of receives, one for each list of entries.
func (r *Rig) recvs(sges ...[]ibv.SGE) *ibv.RecvChain {
	most := 0
	for _, s := range sges {
		most = max(most, len(s))
	}
	c, err := ibv.NewRecvChain(len(sges), most)
	require.NoError(r.T, err)
	for i, s := range sges {
		require.NoError(r.T, c.Set(i, uint64(0x10+i), s...))
	}
	return c
}

// sends is a chain of operations with one entry each.
func (r *Rig) sends(op ibv.WROpcode, flags ibv.SendFlags, sges ...ibv.SGE) *ibv.SendChain {
	c, err := ibv.NewSendChain(len(sges), 4)
	require.NoError(r.T, err)
	for i, sge := range sges {
		require.NoError(r.T, c.SetSGE(i, uint64(0x20+i), op, flags, sge))
	}
	return c
}

// posted requires that a post has worked.
func (r *Rig) posted(accepted int, err error) {
	r.T.Helper()
	require.NoError(r.T, err)
}

func list(sges ...ibv.SGE) []ibv.SGE { return sges }

// at is how errors say where something is.
func at(region *rdma.Region, offset int) string {
	return fmt.Sprintf("%#x", region.SGE(offset, 1).Addr)
}
