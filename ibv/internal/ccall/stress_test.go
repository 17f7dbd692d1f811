//go:build unix

package ccall

import (
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What Go has in registers is still there after C used them all.
func TestRegisters(t *testing.T) {
	fn := symbol(t, "post_clobber")
	bothWays(t, func(t *testing.T, w way) {
		counter, list := new(int64), new(int64)
		f, i := [4]float64{1.5, 2.5, 3.5, 4.5}, [4]int64{1, 2, 3, 4}
		for n := range int64(1000) {
			result, errno, bad := w.post(fn, unsafe.Pointer(counter), unsafe.Pointer(list))
			require.Zero(t, result)
			require.Zero(t, errno)
			require.Equal(t, unsafe.Pointer(list), bad)
			require.Equal(t, n+1, *counter)
			for k := range f { // the compiler keeps X15 zero; clearing memory shows it
				require.Equal(t, [4]int64{}, *new([4]int64))
				f[k]++
				i[k]++
			}
		}
		require.Equal(t, [4]float64{1001.5, 1002.5, 1003.5, 1004.5}, f)
		require.Equal(t, [4]int64{1001, 1002, 1003, 1004}, i)
	})
}

// Calls from many goroutines and threads, while the collector runs all the time, the profiler's signals arrive, and so do
// those that preempt.
func TestUnderStress(t *testing.T) {
	post, spin := symbol(t, "post_script"), symbol(t, "post_spin")
	bothWays(t, func(t *testing.T, w way) {
		if err := pprof.StartCPUProfile(io.Discard); err == nil { // refused under go test -cpuprofile, which is as good
			defer pprof.StopCPUProfile()
		}
		var stop atomic.Bool
		time.AfterFunc(1500*time.Millisecond, func() { stop.Store(true) })
		background := make(chan struct{}, 2)
		go func() {
			defer func() { background <- struct{}{} }()
			for !stop.Load() {
				runtime.GC()
			}
		}()
		go func() {
			defer func() { background <- struct{}{} }()
			for !stop.Load() {
				// The signal the runtime preempts with: it has to tolerate strangers sending it.
				_ = syscall.Kill(os.Getpid(), syscall.SIGURG)
				time.Sleep(100 * time.Microsecond)
			}
		}()
		var calls atomic.Int64
		onManyThreads(64, func(i int) {
			for n := int64(0); !stop.Load(); n++ {
				list := &[3]int64{n, n + 1, n + 2}
				s := &script{result: -1, setErrno: n % 100, setBad: unsafe.Pointer(&list[2])}
				result, errno, bad := w.post(post, unsafe.Pointer(s), unsafe.Pointer(list))
				ok := result == -1 && int64(errno) == n%100 && bad == unsafe.Pointer(&list[2]) &&
					*(*int64)(bad) == n+2 && s.sawList == unsafe.Pointer(list) // safe: bad is &list[2]
				if !assert.True(t, ok, "goroutine %d, call %d: %d %d %p", i, n, result, errno, bad) {
					return
				}
				if n%256 == 0 {
					nanoseconds := int64(200_000)
					w.post(spin, unsafe.Pointer(&nanoseconds), nil)
				}
				calls.Add(1)
			}
		})
		<-background
		<-background
		require.NotZero(t, calls.Load())
	})
}
