//go:build !freebsd

package conformance

import (
	"syscall"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var domainScenarios = []Scenario{
	{"domains", "a parent domain is as good as its domain", "ibv_alloc_parent_domain(3)", parentDomain},
	{"domains", "a parent domain with a thread domain", "ibv_alloc_td(3), ibv_alloc_parent_domain(3)", threadDomain},
	{"domains", "a parent domain refused", "ibv_alloc_parent_domain(3)", parentRefused},
	{"domains", "busy", "ibv_dealloc_td(3), ibv_dealloc_pd(3)", domainsBusy},
	{"memory", "of the device, copied", "ibv_alloc_dm(3)", deviceMemoryCopied},
	{"memory", "of the device, reached by a peer", "ibv_alloc_dm(3); ibv_reg_dm_mr", deviceMemoryReached},
	{"memory", "of the device, refused", "ibv_alloc_dm(3)", deviceMemoryRefused},
	{"memory", "none at all", "ibv_alloc_null_mr(3)", nullRegion},
	{"memory", "by attributes", "ibv_reg_mr_ex(3)", regionByAttributes},
	{"memory", "advice", "ibv_advise_mr(3)", memoryAdvice},
	{"sharing", "a domain and a region between contexts", "ibv_import_device(3), ibv_import_pd(3), ibv_import_mr(3)", sharing},
	{"fork", "prepared for", "ibv_fork_init(3), ibv_is_fork_initialized(3)", forkReady},
}

func lacksParentDomains(t *T) string {
	return missing(t, "parent domains", func() error {
		pd, err := t.Device().Raw().AllocParentDomain(&ibv.ParentDomainInitAttr{PD: t.PD().Raw()})
		return andClose(pd, err)
	})
}

func lacksThreadDomains(t *T) string {
	return missing(t, "thread domains", func() error {
		td, err := t.Device().Raw().AllocTD(nil)
		return andClose(td, err)
	})
}

func lacksDeviceMemory(t *T) string {
	attr, err := t.Device().QueryEx()
	require.NoError(t, err)
	if attr.MaxDMSize == 0 {
		return "the device says that it has no memory of its own"
	}
	return ""
}

func lacksNullRegions(t *T) string {
	return missing(t, "regions of no memory", func() error {
		mr, err := t.PD().Raw().AllocNullMR()
		return andClose(mr, err)
	})
}

func lacksRegionAttributes(t *T) string {
	return missing(t, "regions by attributes", func() error {
		_, mr, err := byAttributes(t, 0)
		return andClose(mr, err)
	})
}

func lacksAdvice(t *T) string {
	return missing(t, "advice about regions", func() error { return advise(t, t.Region(4096, 0)) })
}

func lacksSharing(t *T) string {
	return missing(t, "a way to import objects", func() error {
		pd, err := t.Device().Raw().ImportPD(t.PD().Raw().Handle)
		if err != nil {
			return err
		}
		return pd.Unimport()
	})
}

// parented is a handle of a parent domain of the scenario's.
func parented(t *T, td *ibv.TD) *rdma.PD {
	t.Needs(ParentDomains)
	raw, err := t.Device().Raw().AllocParentDomain(&ibv.ParentDomainInitAttr{PD: t.PD().Raw(), TD: td})
	require.NoError(t, err)
	pd, err := t.Device().AdoptPD(raw)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, pd.CloseAll())
		require.NoError(t, raw.Close())
	})
	return pd
}

// traffic requires that a queue pair in the domain works with memory of the scenario's.
func traffic(t *T, pd *rdma.PD) {
	a, b := t.Unconnected(PairOptions{})
	cq := t.CQ(32, rdma.CQOptions{})
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Access: t.All()})
	require.NoError(t, err)
	require.NoError(t, b.QP.Close())
	b.QP, b.SendCQ, b.RecvCQ = qp, cq, cq
	t.Connect(a, b, PairOptions{})
	b.Buffers(1, 64)
	Fill(a.Slot(0, 64), 1)
	a.Post(sends(t, a.Memory, 1, 64))
	t.Done(b.RecvCQ, 1)
	t.Done(a.SendCQ, 1)
	require.Equal(t, a.Slot(0, 64), b.Slot(0, 64))
	into, err := pd.Register(make([]byte, 64), t.All())
	require.NoError(t, err)
	writes(t, a, b, 64, into.SGE(0, 64).Addr, into.RKey())
	require.NoError(t, into.Close())
}

func parentDomain(t *T) { traffic(t, parented(t, nil)) }

func threadDomain(t *T) {
	t.Needs(ThreadDomains)
	td, err := t.Device().Raw().AllocTD(nil)
	require.NoError(t, err)
	closing(t, td)
	traffic(t, parented(t, td))
}

func parentRefused(t *T) {
	t.Needs(ParentDomains)
	ctx := t.Device().Raw()
	_, err := ctx.AllocParentDomain(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{})
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: t.PD().Raw(), CompMask: 1 << 30})
	require.Error(t, err)
}

func domainsBusy(t *T) {
	t.Needs(ThreadDomains, ParentDomains)
	ctx := t.Device().Raw()
	td, err := ctx.AllocTD(nil)
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	parent, err := ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: pd, TD: td})
	require.NoError(t, err)
	require.ErrorIs(t, td.Close(), syscall.EBUSY)
	require.ErrorIs(t, pd.Close(), syscall.EBUSY)
	require.NoError(t, parent.Close())
	require.NoError(t, td.Close())
	require.NoError(t, pd.Close())
}

// deviceMemory is so many bytes of the device's own.
func deviceMemory(t *T, size uint64) *rdma.DM {
	t.Needs(DeviceMemory)
	dm, err := t.Device().AllocDM(size, 0)
	require.NoError(t, err)
	return dm
}

func deviceMemoryCopied(t *T) {
	dm := deviceMemory(t, 256)
	in, out := make([]byte, 64), make([]byte, 64)
	Fill(in, 3)
	n, err := dm.WriteAt(in, 128)
	require.NoError(t, err)
	require.Equal(t, 64, n)
	n, err = dm.ReadAt(out, 128)
	require.NoError(t, err)
	require.Equal(t, 64, n)
	require.Equal(t, in, out)
	for _, offset := range []int64{-4, 256, 196} {
		_, err := dm.WriteAt(in, offset)
		require.Error(t, err, "offset %d", offset)
		_, err = dm.ReadAt(out, offset)
		require.Error(t, err, "offset %d", offset)
	}
}

func deviceMemoryReached(t *T) {
	dm := deviceMemory(t, 256)
	region, err := t.PD().RegisterDM(dm, 64, 128, t.All())
	require.NoError(t, err)
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 32), 4)
	writes(t, a, b, 32, 16, region.RKey())
	got := make([]byte, 32)
	_, err = dm.ReadAt(got, 64+16)
	require.NoError(t, err)
	require.Equal(t, a.Slot(0, 32), got)
	require.Error(t, dm.Close(), "a region is of it")
	require.NoError(t, region.Close())
	require.NoError(t, dm.Close())
}

func deviceMemoryRefused(t *T) {
	dm := deviceMemory(t, 256)
	attr, err := t.Device().QueryEx()
	require.NoError(t, err)
	_, err = t.Device().AllocDM(attr.MaxDMSize+1, 0)
	require.Error(t, err, "more than MaxDMSize")
	_, err = t.PD().RegisterDM(dm, 128, 256, t.All())
	require.Error(t, err, "behind its end")
	_, err = t.PD().Raw().RegDMMR(dm.Raw(), 0, 128, t.All())
	require.ErrorIs(t, err, syscall.EINVAL, "without AccessZeroBased")
}

// What is received into no memory is gone, and what is sent from it is zeros.
func nullRegion(t *T) {
	t.Needs(NullRegions)
	mr, err := t.PD().Raw().AllocNullMR()
	require.NoError(t, err)
	closing(t, mr)
	a, b := t.Pair(PairOptions{})
	Fill(b.Slot(0, 64), 4)
	b.Buffers(1, 64)
	chain := t.Sends(1, 2)
	require.NoError(t, chain.Set(0, 1, ibv.WRSend, ibv.SendSignaled, ibv.SGE{Length: 32, LKey: mr.LKey}, a.Memory.SGE(0, 8)))
	a.Post(chain)
	t.Done(a.SendCQ, 1)
	t.Done(b.RecvCQ, 1)
	require.Equal(t, make([]byte, 40), b.Slot(0, 64)[:40])
}

// byAttributes registers memory that counts from an address of its own, or from its own
// if that is 0.
func byAttributes(t *T, iova uint64) ([]byte, *ibv.MR, error) {
	buf, err := ibv.AllocBuffer(4096)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Free()) })
	attr := &ibv.MRInitAttr{
		Length: 4096, Access: t.All(), CompMask: uint64(ibv.RegMRMaskAddr),
		Addr: uintptr(unsafe.Pointer(unsafe.SliceData(buf))), // safe: it is C's memory, which stays until the end
	}
	if iova != 0 {
		attr.CompMask |= uint64(ibv.RegMRMaskIOVA)
		attr.IOVA = iova
	}
	mr, err := t.PD().Raw().RegMREx(attr)
	return buf, mr, err
}

func regionByAttributes(t *T) {
	t.Needs(RegionAttributes)
	buf, mr, err := byAttributes(t, 0)
	require.NoError(t, err)
	closing(t, mr)
	require.EqualValues(t, 4096, mr.Length)
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 100), 11)
	writes(t, a, b, 100, uint64(mr.Addr), mr.RKey)
	require.Equal(t, a.Slot(0, 100), buf[:100])
	_, err = t.PD().Raw().RegMREx(&ibv.MRInitAttr{Length: 4096, Access: t.All()})
	require.Error(t, err, "no memory")
}

func advise(t *T, region *rdma.Region) error {
	return t.PD().Raw().AdviseMR(ibv.AdviseMRAdvicePrefetch, ibv.AdviseMRFlagFlush, []ibv.SGE{region.SGE(0, region.Len())})
}

func memoryAdvice(t *T) {
	t.Needs(Advice)
	region := t.Region(4096, 0)
	require.NoError(t, advise(t, region))
	sge := region.SGE(0, 4096)
	sge.LKey = noKey(sge.LKey)
	require.Error(t, t.PD().Raw().AdviseMR(ibv.AdviseMRAdvicePrefetch, ibv.AdviseMRFlagFlush, []ibv.SGE{sge}))
}

// A second handle of what the context has is good for the same.
func sharing(t *T) {
	t.Needs(Sharing)
	ctx := t.Device().Raw()
	pd, err := ctx.ImportPD(t.PD().Raw().Handle)
	require.NoError(t, err)
	region := t.Region(64, 0)
	mr, err := pd.ImportMR(region.Raw().Handle)
	require.NoError(t, err)
	require.Equal(t, region.RKey(), mr.RKey)
	require.Equal(t, region.LKey(), mr.LKey)
	require.NoError(t, mr.Unimport())
	require.NoError(t, pd.Unimport())
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 64), 1)
	writes(t, a, b, 64, region.SGE(0, 64).Addr, region.RKey())
	_, err = ctx.ImportPD(1 << 30)
	require.Error(t, err, "no such domain")
}

// Once memory is registered it may be too late to prepare, and where the kernel copies
// such memory for a child there is nothing to prepare.
func forkReady(t *T) {
	region := t.Region(4096, 0)
	status, err := ibv.IsForkInitialized()
	if unsupported(err) {
		require.ErrorContains(t, err, "older", "of libibverbs, which could not be asked before rdma-core 35")
		return
	}
	require.NoError(t, err)
	require.Contains(t, []ibv.ForkStatus{ibv.ForkDisabled, ibv.ForkEnabled, ibv.ForkUnneeded}, status)
	err = ibv.ForkInit()
	again, statusErr := ibv.IsForkInitialized()
	require.NoError(t, statusErr)
	switch {
	case err != nil:
		require.ErrorIs(t, err, syscall.EINVAL)
		require.Equal(t, status, again, "what has failed has changed nothing")
	default:
		require.Contains(t, []ibv.ForkStatus{ibv.ForkEnabled, ibv.ForkUnneeded}, again)
	}
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 64), 2)
	writes(t, a, b, 64, region.SGE(0, 64).Addr, region.RKey())
	require.Equal(t, a.Slot(0, 64), region.Bytes()[:64])
}
