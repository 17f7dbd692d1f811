//go:build linux

package rdma

import (
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/recorder"
	"github.com/goverbs/goverbs/internal/scripted"
)

// inRecorder runs the calling test in a process whose libibverbs is a recorder. It
// returns nil in this process, where nothing is left to do; in the other one it
// returns the recorder, and a protection domain of it.
func inRecorder(t *testing.T) (*recorder.Recorder, *PD) {
	t.Helper()
	const role, libibverbs = "RDMA_TEST_IN_RECORDER", "GOVERBS_LIBIBVERBS"
	if os.Getenv(role) == "" {
		functions := recorder.Functions(t, "../ibv/zz_generated.facts.json.gz", "infiniband")
		library := recorder.Compile(t, t.TempDir(), "recorder.so", functions)
		scripted.Again(t, "^"+t.Name()+"$", role+"=1", libibverbs+"="+library, "GOVERBS_CHECK="+os.Getenv("GOVERBS_CHECK"))
		return nil, nil
	}
	r := recorder.Open(t, os.Getenv(libibverbs))
	return r, recordedPD(t, r)
}

// recordedPD is a protection domain of the recorder's.
func recordedPD(t *testing.T, r *recorder.Recorder) *PD {
	t.Helper()
	// A context is the last member of a larger object, whose size is in front of it.
	const size = unsafe.Sizeof(ibv.VerbsContext{})
	address := recorder.Tail[ibv.VerbsContext](r, size)
	// Safe: the object is C's memory, which stays.
	whole := *(**ibv.VerbsContext)(unsafe.Pointer(&address))
	whole.Sz = uint64(size)
	ctx, raw := &whole.Context, recorder.Object[ibv.PD](r)
	ctx.ABICompat = ^uintptr(0)
	ctx.Device, raw.Context = recorder.Object[ibv.Device](r), ctx
	dev, err := AdoptDevice(ctx, DeviceOptions{})
	require.NoError(t, err)
	pd, err := dev.AdoptPD(raw)
	require.NoError(t, err)
	return pd
}

// playRegion has registrations give a region from now on.
func playRegion(r *recorder.Recorder, pd *PD, function string) *ibv.MR {
	r.Forget()
	mr := recorder.Object[ibv.MR](r)
	mr.Context, mr.LKey, mr.RKey = pd.raw.Context, 0x11, 0x22
	r.Play(function, recorder.Response{Result: uint64(uintptr(unsafe.Pointer(mr)))})
	return mr
}

// A chain of a region's buffers is what Set makes of its entries, and there is none of
// a region that is too short or closed.
func TestRegionRecvChain(t *testing.T) {
	r, pd := inRecorder(t)
	if r == nil {
		return
	}
	memory := make([]byte, 100)
	mr := playRegion(r, pd, "ibv_reg_mr_iova2")
	mr.Addr, mr.Length = uintptr(unsafe.Pointer(unsafe.SliceData(memory))), 100
	region, err := pd.Register(memory, ibv.AccessLocalWrite)
	require.NoError(t, err)
	chain, err := region.RecvChain(3, 33)
	require.NoError(t, err)
	require.Equal(t, 3, chain.Len())
	for i := range 3 {
		require.Equal(t, uint64(i), chain.WR(i).WRID)
		require.Equal(t, []ibv.SGE{region.SGE(i*33, 33)}, chain.SGEs(i))
	}
	_, err = region.RecvChain(3, 34)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "100 bytes")
	require.NoError(t, region.Close())
	_, err = region.RecvChain(3, 33)
	require.ErrorIs(t, err, ErrClosed)
	_, err = (*Region)(nil).RecvChain(3, 33)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// A region keeps memory of the Go heap until C has let it go, and not longer.
func TestRegionKeepsMemory(t *testing.T) {
	r, _ := inRecorder(t)
	if r == nil {
		return
	}
	for name, lost := range map[string]bool{"region": false, "lost region": true} {
		t.Run(name, func(t *testing.T) {
			pd := recordedPD(t, r)
			playRegion(r, pd, "ibv_reg_mr_iova2")
			taken := make(chan bool, 1)
			region := func() *Region {
				memory := new([64 << 10]byte)
				runtime.AddCleanup(memory, func(taken chan bool) { taken <- true }, taken)
				region, err := pd.Register(memory[:], ibv.AccessLocalWrite)
				require.NoError(t, err)
				return region
			}()
			end := region.Close
			if lost {
				region, end = nil, pd.CloseAll
			}
			busy := recorder.Response{Result: recorder.Int(int(syscall.EBUSY))}
			r.Play("ibv_dereg_mr", busy, busy, busy, recorder.Response{})
			for range 3 {
				require.ErrorIs(t, end(), syscall.EBUSY)
				runtime.GC()
				select {
				case <-taken:
					require.Fail(t, "the device still has the memory")
				case <-time.After(5 * time.Millisecond):
				}
				if !lost {
					require.Len(t, region.Bytes(), 64<<10)
					require.Equal(t, uint32(0x11), region.SGE(0, 1).LKey)
				}
			}
			require.NoError(t, end())
			for deadline := time.Now().Add(time.Minute); ; runtime.GC() {
				select {
				case <-taken:
					runtime.KeepAlive(region)
					return
				case <-time.After(5 * time.Millisecond):
					require.True(t, time.Now().Before(deadline), "the closed region keeps the memory")
				}
			}
		})
	}
}

// A region's own memory is mapped until C has let it go, and no longer; that of a
// region that could not be made is not.
func TestRegionUnmaps(t *testing.T) {
	r, pd := inRecorder(t)
	if r == nil {
		return
	}
	playRegion(r, pd, "ibv_reg_mr_iova2")
	region, err := pd.AllocRegion(100, RegionOptions{})
	require.NoError(t, err)
	start := uintptr(unsafe.Pointer(&region.Bytes()[0]))
	r.Play("ibv_dereg_mr", recorder.Response{Result: recorder.Int(int(syscall.EBUSY))}, recorder.Response{})
	require.ErrorIs(t, region.Close(), syscall.EBUSY)
	require.Zero(t, mincore(start))
	require.NoError(t, region.Close())
	require.Equal(t, unix.ENOMEM, mincore(start))

	r.Forget()
	r.Play("ibv_reg_mr_iova2", recorder.Response{Errno: syscall.EMLINK})
	_, err = pd.AllocRegion(100, RegionOptions{})
	require.ErrorIs(t, err, syscall.EMLINK)
	require.Equal(t, unix.ENOMEM, mincore(uintptr(r.Only().Args[1])))
}

// Memory that the kernel does not take back is no region any more, and can be given
// back later.
func TestRegionOfWhichMemoryIsLeft(t *testing.T) {
	r, pd := inRecorder(t)
	if r == nil {
		return
	}
	playRegion(r, pd, "ibv_reg_mr_iova2")
	region, err := pd.AllocRegion(100, RegionOptions{})
	require.NoError(t, err)
	unmap := region.under.unmap
	region.under.unmap = func() error { return unix.ENOMEM }
	r.Play("ibv_dereg_mr", recorder.Response{})
	require.ErrorIs(t, region.Close(), unix.ENOMEM)
	require.Nil(t, region.Bytes())
	require.NotEqual(t, uint32(0x11), region.LKey())
	region.under.unmap = unmap
	require.NoError(t, region.Close())
	require.ErrorIs(t, region.Close(), ErrClosed)
}

// Entries of a DMA-buf count from the address that it was given.
func TestRegisterDMABuf(t *testing.T) {
	r, pd := inRecorder(t)
	if r == nil {
		return
	}
	playRegion(r, pd, "ibv_reg_dmabuf_mr").Length = 3 << 40
	region, err := pd.RegisterDMABuf(4, DMABufOptions{Offset: 1 << 40, Length: 3 << 40, IOVA: 5 << 40})
	require.NoError(t, err)
	r.Only().Require(t, "ibv_reg_dmabuf_mr", pd.raw, uint64(1<<40), uint64(3<<40), uint64(5<<40), int32(4), int32(ibv.AccessLocalWrite))
	require.Nil(t, region.Bytes())
	require.Equal(t, 3<<40, region.Len())
	require.Equal(t, ibv.SGE{Addr: 5<<40 + 10, Length: 20, LKey: 0x11}, region.SGE(10, 20))
	r.Play("ibv_dereg_mr", recorder.Response{})
	require.NoError(t, region.Close())
	_, err = pd.RegisterDMABuf(1<<32, DMABufOptions{Length: 1})
	require.ErrorIs(t, err, syscall.EBADF)
}

// Memory of the device outlives its regions, in which entries count from 0.
func TestDM(t *testing.T) {
	r, pd := inRecorder(t)
	if r == nil {
		return
	}
	raw := recorder.Object[ibv.DM](r)
	raw.Context = pd.raw.Context
	r.Play("VerbsContext.AllocDM", recorder.Response{Result: uint64(uintptr(unsafe.Pointer(raw)))})
	dm, err := pd.dev.AllocDM(1000, 3)
	require.NoError(t, err)
	require.Contains(t, dm.String(), "device memory of 1000 bytes")
	playRegion(r, pd, "VerbsContext.RegDMMR").Length = 200
	region, err := pd.RegisterDM(dm, 100, 200, 0)
	require.NoError(t, err)
	r.Only().Require(t, "VerbsContext.RegDMMR", pd.raw, raw, uint64(100), uint64(200), int32(ibv.AccessLocalWrite|ibv.AccessZeroBased))
	require.Equal(t, ibv.SGE{Addr: 10, Length: 20, LKey: 0x11}, region.SGE(10, 20))
	require.Nil(t, region.Bytes())
	require.Equal(t, 200, region.Len())
	r.Forget()
	n, err := dm.WriteAt([]byte("hello"), 50)
	require.NoError(t, err)
	require.Equal(t, 5, n)
	n, err = dm.ReadAt(make([]byte, 3), 50)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.ErrorContains(t, dm.Close(), region.String())
	require.NoError(t, dm.CloseAll())
	require.ErrorIs(t, region.Close(), ErrClosed)
	for _, copy := range []func([]byte, int64) (int, error){dm.WriteAt, dm.ReadAt} {
		_, err = copy([]byte("hello"), 0)
		require.ErrorIs(t, err, ErrClosed)
	}
	_, err = pd.RegisterDM(dm, 0, 1, 0)
	require.ErrorIs(t, err, ErrClosed)
	_, err = pd.RegisterDM(nil, 0, 1, 0)
	require.ErrorIs(t, err, syscall.EINVAL)
}
