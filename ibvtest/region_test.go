//go:build !freebsd

package ibvtest_test

import (
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// rawPD is a protection domain of a new fabric's first device.
func rawPD(t *testing.T, opts ...ibvtest.Option) *ibv.PD {
	f := ibvtest.New(t, opts...)
	ctx, err := ibv.Open(f.Names()[0])
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, pd.Close())
		require.NoError(t, ctx.Close())
	})
	return pd
}

func region(t *testing.T, pd *ibv.PD, memory []byte, access ibv.AccessFlags) *ibv.MR {
	mr, err := pd.RegMR(memory, access)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mr.Close()) })
	return mr
}

// Access is checked as ibv_reg_mr(3) has it: what may be changed from afar, the program may change.
func TestRegionAccess(t *testing.T) {
	pd, memory := rawPD(t), make([]byte, 64)
	for _, c := range []struct {
		access ibv.AccessFlags
		why    syscall.Errno
	}{
		{0, 0}, {ibv.AccessLocalWrite, 0}, {ibv.AccessRemoteRead, 0},
		{ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteAtomic | ibv.AccessMWBind, 0},
		{ibv.AccessLocalWrite | ibv.AccessRelaxedOrdering, 0},
		{ibv.AccessLocalWrite | 1<<29, 0}, // optional, and unknown
		{ibv.AccessRemoteWrite, syscall.EINVAL}, {ibv.AccessRemoteAtomic, syscall.EINVAL},
		{ibv.AccessOnDemand, syscall.EOPNOTSUPP}, {ibv.AccessFlushGlobal, syscall.EOPNOTSUPP},
		{1 << 15, syscall.EINVAL},
	} {
		mr, err := pd.RegMR(memory, c.access)
		if c.why != 0 {
			assert.ErrorIs(t, err, c.why, "%v", c.access)
			continue
		}
		if assert.NoError(t, err, "%v", c.access) {
			require.NoError(t, mr.Close())
		}
	}
}

// Keys are of one region each, differ from each other and from those of other devices, and none comes back soon.
func TestKeys(t *testing.T) {
	pd, other := rawPD(t), rawPD(t)
	seen := map[uint32]bool{}
	for i := range 2000 {
		of := pd
		if i%2 == 1 {
			of = other
		}
		mr, err := of.RegMR(make([]byte, 8), ibv.AccessLocalWrite)
		require.NoError(t, err)
		for _, key := range []uint32{mr.LKey, mr.RKey} {
			require.False(t, seen[key], "%#x", key)
			require.Greater(t, key, uint32(255), "which programs make by accident")
			seen[key] = true
		}
		require.Equal(t, mr.LKey>>8, mr.RKey>>8)
		require.NoError(t, mr.Close())
	}
}

func TestRegionArguments(t *testing.T) {
	pd, memory := rawPD(t), make([]byte, 3*4096)
	memory = memory[-uintptr(unsafe.Pointer(&memory[0]))%4096:][:4096]
	mr, err := pd.RegMRIOVA(memory[16:], 1<<40+16, ibv.AccessLocalWrite)
	require.NoError(t, err)
	require.NoError(t, mr.Close())
	_, err = pd.RegMRIOVA(memory, 1<<40+16, 0)
	require.ErrorIs(t, err, syscall.EINVAL, "the offset within the page differs")
	_, err = pd.RegMRIOVA(memory, ^uint64(4095), 0)
	require.ErrorIs(t, err, syscall.EINVAL, "it ends behind all addresses")
	_, err = pd.RegMREx(&ibv.MRInitAttr{Length: 16})
	require.ErrorIs(t, err, syscall.EINVAL, "of what?")
	_, err = pd.RegMREx(&ibv.MRInitAttr{Length: 16, CompMask: uint64(ibv.RegMRMaskFD | ibv.RegMRMaskFDOffset | ibv.RegMRMaskIOVA)})
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.ErrorIs(t, pd.AdviseMR(ibv.AdviseMRAdvicePrefetch, 0, []ibv.SGE{{Length: 1}}), syscall.EOPNOTSUPP)
}

// What is refused leaves the region as it was; what is not changes its keys, for a work request with the old ones is about
// something else.
func TestRereg(t *testing.T) {
	pd := rawPD(t)
	memory, more := make([]byte, 64), make([]byte, 128)
	mr := region(t, pd, memory, ibv.AccessLocalWrite)
	before := []uint32{mr.LKey, mr.RKey}
	var failure *ibv.ReregMRError
	require.ErrorAs(t, mr.Rereg(ibv.ReregMRChangeAccess, nil, nil, ibv.AccessRemoteWrite), &failure)
	require.Equal(t, ibv.ReregMRErrInput, failure.Code)
	require.Equal(t, before, []uint32{mr.LKey, mr.RKey})
	require.NoError(t, mr.Rereg(ibv.ReregMRChangeTranslation|ibv.ReregMRChangeAccess, nil, more, ibv.AccessRemoteRead))
	require.EqualValues(t, 128, mr.Length)
	require.Equal(t, &more[0], &mr.Bytes()[0])
	require.False(t, slices.Contains(before, mr.LKey) || slices.Contains(before, mr.RKey))
}

func TestDeviceMemory(t *testing.T) {
	pd := rawPD(t)
	dm, err := pd.Context.AllocDM(&ibv.AllocDMAttr{Length: 4096, LogAlignReq: 6})
	require.NoError(t, err)
	_, err = dm.WriteAt([]byte("gone"), 8)
	require.NoError(t, err)
	got := make([]byte, 4)
	_, err = dm.ReadAt(got, 8)
	require.NoError(t, err)
	require.Equal(t, "gone", string(got))
	_, err = dm.WriteAt(got, 4094)
	require.ErrorIs(t, err, syscall.EFAULT)
	_, err = pd.RegDMMR(dm, 0, 4096, ibv.AccessLocalWrite)
	require.ErrorIs(t, err, syscall.EINVAL, "ibv_reg_dm_mr(3) wants it zero-based")
	mr, err := pd.RegDMMR(dm, 8, 64, ibv.AccessLocalWrite|ibv.AccessZeroBased)
	require.NoError(t, err)
	require.ErrorIs(t, dm.Close(), syscall.EBUSY)
	require.NoError(t, mr.Close())
	require.NoError(t, dm.Close())
	_, err = pd.Context.AllocDM(&ibv.AllocDMAttr{Length: 1 << 30})
	require.ErrorIs(t, err, syscall.ENOMEM)
}

// A peer reaches what a window opens, through its key alone, and no longer than it is bound.
func TestWindow(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTRC, nil)
	memory := make([]byte, 4096)
	mr, err := w.pd.Raw().RegMR(memory, ibv.AccessLocalWrite|ibv.AccessMWBind)
	require.NoError(t, err)
	mw, err := w.pd.Raw().AllocMW(ibv.MWType2)
	require.NoError(t, err)
	post := func(qp *rdma.QP, op ibv.WROpcode, change func(wr *ibv.SendWR)) ibv.WCStatus {
		chain, err := ibv.NewSendChain(1, 1)
		require.NoError(t, err)
		if op == ibv.WRRDMAWrite {
			require.NoError(t, chain.Set(0, 9, op, ibv.SendSignaled, w.memory.SGE(0, 8)))
		} else {
			require.NoError(t, chain.Set(0, 9, op, ibv.SendSignaled))
		}
		change(chain.WR(0))
		_, err = qp.PostSend(chain)
		require.NoError(t, err)
		got := w.poll()
		require.Len(t, got, 1)
		return got[0].status
	}
	bind := func(rkey uint32) ibv.WCStatus {
		return post(w.b, ibv.WRBindMW, func(wr *ibv.SendWR) {
			to := wr.BindMW()
			to.MW, to.RKey = ibv.ToPtr(mw), rkey
			to.BindInfo = ibv.MWBindInfo{MR: ibv.ToPtr(mr), Addr: uint64(mr.Addr) + 64, Length: 64, MWAccessFlags: ibv.AccessRemoteWrite}
		})
	}
	write := func(addr uint64, rkey uint32) ibv.WCStatus {
		return post(w.a, ibv.WRRDMAWrite, func(wr *ibv.SendWR) { *wr.WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: addr, RKey: rkey} })
	}
	copy(w.memory.Bytes(), "a window")
	rkey := ibv.IncRKey(mw.RKey)
	require.Equal(t, ibv.WCSuccess, bind(rkey))
	require.ErrorIs(t, mr.Close(), syscall.EBUSY)
	require.Equal(t, ibv.WCSuccess, write(uint64(mr.Addr)+64, rkey))
	require.Equal(t, "a window", string(memory[64:72]))
	require.Equal(t, ibv.WCSuccess, write(uint64(mr.Addr)+120, rkey))
	require.Equal(t, ibv.WCSuccess, post(w.b, ibv.WRLocalInv, func(wr *ibv.SendWR) { wr.SetInvalidateRKey(rkey) }))
	require.Equal(t, ibv.WCRemAccessErr, write(uint64(mr.Addr)+64, rkey))
	require.NoError(t, mr.Close())
	require.NoError(t, mw.Close())
}

// A null region has as much memory as an entry names, of which none is really there.
func TestNullRegionTakesNoMemory(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTRC, nil)
	null, err := w.pd.Raw().AllocNullMR()
	require.NoError(t, err)
	defer func() { require.NoError(t, null.Close()) }()
	much := ibv.SGE{Length: 1 << 30, LKey: null.LKey}
	_, err = w.b.Raw().PostRecv(&ibv.RecvWR{WRID: 1, SGList: &much, NumSGE: 1})
	require.NoError(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = w.a.Raw().PostSend(&ibv.SendWR{Opcode: ibv.WRSend, SGList: &much, NumSGE: 1})
	require.NoError(t, err)
	runtime.ReadMemStats(&after)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<27))
	wcs := make([]ibv.WC, 2)
	n, err := w.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.EqualValues(t, 1<<30, wcs[0].ByteLen)
	require.Equal(t, ibv.WCSuccess, wcs[0].Status)
}
