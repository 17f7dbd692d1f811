package ccall

import (
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// useStack makes a C function use some of the stack, and check that what it wrote is still there when it comes back.
func useStack(t *testing.T, w way, fn uintptr, bytes int64) {
	s := &script{stack: bytes, setErrno: untouched, setBad: keep}
	result, _, _ := w.post(fn, unsafe.Pointer(s), unsafe.Pointer(s))
	assert.Zero(t, result)
	assert.Equal(t, bytes, s.sum)
	assert.Zero(t, s.sawFrame%w.alignment)
}

// C has a stack of C's size on every thread, the first one included.
func TestCHasStack(t *testing.T) {
	fn := symbol(t, "post_script")
	sizes := []int64{64 << 10}
	library, err := build()
	require.NoError(t, err)
	if _, err := library.Symbol("gnu_get_libc_version"); err == nil {
		sizes = append(sizes, 1<<20) // musl's threads have 128 KiB in all
	}
	bothWays(t, func(t *testing.T, w way) {
		for _, size := range sizes {
			mainThread(func() { useStack(t, w, fn, size) })
			var ready, group sync.WaitGroup
			ready.Add(32)
			for range 32 {
				group.Go(func() {
					runtime.LockOSThread() // not unlocked: the thread ends with its goroutine
					ready.Done()
					ready.Wait() // so that all of them are threads of their own
					useStack(t, w, fn, size)
				})
			}
			group.Wait()
		}
	})
}

// However little is left of the goroutine's stack, the call neither needs it nor harms it.
func TestEdgeOfTheGoroutineStack(t *testing.T) {
	fn := symbol(t, "post_script")
	bothWays(t, func(t *testing.T, w way) {
		s := &script{setErrno: untouched, setBad: keep}
		done := make(chan uint64)
		go func() { done <- descend(w, fn, s, 3000) }() // a new goroutine has a small stack
		require.Equal(t, uint64(3000*3001/2), <-done)
	})
}

//go:noinline
func descend(w way, fn uintptr, s *script, depth uint64) uint64 {
	if depth == 0 {
		return 0
	}
	mine := [2]uint64{depth, ^depth}
	result, _, bad := w.post(fn, unsafe.Pointer(s), unsafe.Pointer(s))
	if result != 0 || bad != 0 {
		return 0
	}
	below := descend(w, fn, s, depth-1)
	w.post(fn, unsafe.Pointer(s), unsafe.Pointer(s))
	if mine[0] != ^mine[1] {
		return 0
	}
	return below + mine[0]
}
