//go:build device && linux

package rdma

import (
	"bytes"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

const watched = 64 << 10

// overwritten is what is in memory that others use.
var overwritten = bytes.Repeat([]byte{0xff}, watched)

// watch makes memory of the Go heap, and tells when the collector takes it.
func watch() (memory []byte, taken *atomic.Bool) {
	array := new([watched]byte)
	taken = new(atomic.Bool)
	runtime.AddCleanup(array, func(taken *atomic.Bool) { taken.Store(true) }, taken)
	return array[:], taken
}

// collect has the collector take what it can, and others use it.
func collect() {
	for range 3 {
		runtime.GC()
		for range 64 {
			copy(make([]byte, watched), overwritten)
		}
		time.Sleep(time.Millisecond)
	}
}

func requireTaken(t *testing.T, taken *atomic.Bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !taken.Load(); collect() {
		require.True(t, time.Now().Before(deadline), "closed regions keep memory")
	}
}

// Registered memory of the Go heap stays while the device may write to it, though
// only the region refers to it, and nobody to the region.
func TestRegisteredMemoryStays(t *testing.T) {
	l := newRig(t).loop(4)
	source := l.region(100)
	copy(source.Bytes(), "hello")
	receive := func(sge ibv.SGE) {
		require.NoError(t, l.recv(sge))
		collect()
		require.NoError(t, l.send(source.SGE(0, 5), 0))
		l.poll(l.cq, 2)
	}

	t.Run("region", func(t *testing.T) {
		region, taken := register(t, l.pd)
		for i := range 20 {
			receive(region.SGE(i*100, 5))
			require.False(t, taken.Load())
			require.Equal(t, "hello", string(region.Bytes()[i*100:][:5]))
		}
		require.NoError(t, region.Close())
		requireTaken(t, taken)
		runtime.KeepAlive(region)
	})
	t.Run("lost", func(t *testing.T) {
		entry, taken := lose(t, l.pd)
		for range 20 {
			receive(entry)
			require.False(t, taken.Load())
		}
		require.NoError(t, l.pd.CloseAll())
		requireTaken(t, taken)
	})
}

func register(t *testing.T, pd *rdma.PD) (*rdma.Region, *atomic.Bool) {
	memory, taken := watch()
	region, err := pd.Register(memory, access)
	require.NoError(t, err)
	return region, taken
}

// lose loses a region, all but the numbers that the device knows.
func lose(t *testing.T, pd *rdma.PD) (ibv.SGE, *atomic.Bool) {
	region, taken := register(t, pd)
	return region.SGE(0, 5), taken
}

// A region that the device does not let go stays whole, and can be closed later.
func TestRegionThatCannotBeClosed(t *testing.T) {
	guest.Needs(t, guest.Windows)
	l := newRig(t).loop(4)
	region, err := l.pd.AllocRegion(1000, rdma.RegionOptions{Access: access | ibv.AccessMWBind})
	require.NoError(t, err)
	window, err := l.pd.Raw().AllocMW(ibv.MWType1)
	require.NoError(t, err)
	bind := ibv.MWBind{SendFlags: ibv.SendSignaled, BindInfo: ibv.MWBindInfo{
		MR: ibv.ToPtr(region.Raw()), Addr: region.SGE(0, 1).Addr, Length: 100, MWAccessFlags: ibv.AccessRemoteWrite}}
	require.NoError(t, l.qp.Raw().BindMW(window, &bind))
	l.poll(l.cq, 1)

	for range 3 {
		require.Error(t, region.Close(), "a window is bound to it")
		l.requireCopied(region)
	}
	require.NoError(t, window.Close())
	require.NoError(t, region.Close())
	require.Nil(t, region.Bytes())
}

// Regions are made and closed by many goroutines at once, and each keeps its own
// memory.
func TestRegionsOfManyGoroutines(t *testing.T) {
	r := newRig(t)
	var group sync.WaitGroup
	for g := range 8 {
		group.Go(func() {
			for i := range 50 {
				region, err := r.pd.Register(bytes.Repeat([]byte{byte(g), byte(i)}, 50), access)
				if !assert.NoError(t, err) {
					return
				}
				if i%10 == 0 {
					runtime.GC()
				}
				assert.Equal(t, bytes.Repeat([]byte{byte(g), byte(i)}, 50), region.Bytes())
				assert.NoError(t, region.Close())
			}
		})
	}
	group.Wait()
}
