//go:build device

package device

import (
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestCreateQPWithoutWhatItNeeds(t *testing.T) {
	r := newRig(t)
	cq := r.cq(8)
	for _, attr := range []ibv.QPInitAttr{{SendCQ: cq, RecvCQ: cq}, {SendCQ: cq, QPType: ibv.QPTRC}, {RecvCQ: cq, QPType: ibv.QPTUD}} {
		_, err := r.pd.CreateQP(&attr)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
	_, err := r.pd.CreateQP(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// Memory regions are made and closed by many goroutines at once, and C gives
// the address of one that was closed to the next.
func TestRegisterFromManyGoroutines(t *testing.T) {
	r := newRig(t)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 50 {
				heap := make([]byte, 64)
				mr, err := r.pd.RegMR(heap, access)
				if !assert.NoError(t, err) {
					return
				}
				if i%10 == 0 {
					runtime.GC()
				}
				heap[0] = byte(i)
				assert.Equal(t, byte(i), mr.Bytes()[0])
				assert.NoError(t, mr.Close())
			}
		})
	}
	group.Wait()
}
