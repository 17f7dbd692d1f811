//go:build device && linux

package device

import (
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

// A thread of musl's has a stack of 128 KiB for C, and for what the runtime does
// between goroutines. The verbs take little of it, from the list of devices to the
// last completion, whichever C library the thread is of.
func TestVerbsNeedLittleStack(t *testing.T) {
	const enough = 64 << 10
	var used, size int
	onOtherThread(func() {
		r := newRig(t)
		_, err := r.ctx.QueryDeviceEx()
		require.NoError(t, err)
		_, err = r.ctx.GIDs(port)
		require.NoError(t, err)
		_, err = ibv.Devices()
		require.NoError(t, err)
		sender, receiver := r.pair(8, 8)
		mr := r.memory(16)
		for range 100 {
			_, err = r.recvChain(8, mr).Post(receiver.QP)
			require.NoError(t, err)
			_, err = r.sendChain(8, mr, func(int) int { return slot }).Post(sender.QP)
			require.NoError(t, err)
			r.poll(sender.send, 8)
			r.poll(receiver.recv, 8)
		}
		runtime.GC()
		require.NoError(t, toErr(sender.QP))
		used, size = stackUsed(t)
	})
	t.Logf("%d of %d KiB", used>>10, size>>10)
	require.Positive(t, used)
	require.Less(t, used, enough)
}

// onOtherThread runs f on a thread that is not the first one, whose stack is the
// kernel's and not the C library's.
func onOtherThread(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and not unlocked: the thread ends with its goroutine
		if syscall.Gettid() == syscall.Getpid() {
			onOtherThread(f)
			return
		}
		f()
	}()
	<-done
}

// stackUsed is how much of this thread's stack was ever touched, and its size.
func stackUsed(t *testing.T) (used, size int) {
	t.Helper()
	// Before glibc 2.34 they are not in libc.so.6. musl answers to this name, too.
	process, err := dl.LoadNamed("libpthread.so.0")
	require.NoError(t, err)
	call := func(name string, args ...uintptr) {
		fn, err := process.Symbol(name)
		require.NoError(t, err)
		result, _ := dl.Call(fn, args...)
		require.Zero(t, result, name)
	}
	self, err := process.Symbol("pthread_self")
	require.NoError(t, err)
	thread, _ := dl.Call(self)
	var attr [8]uint64 // at most; see pthread_attr_t
	var low, length uintptr
	call("pthread_getattr_np", thread, uintptr(unsafe.Pointer(&attr)))
	call("pthread_attr_getstack", uintptr(unsafe.Pointer(&attr)), uintptr(unsafe.Pointer(&low)), uintptr(unsafe.Pointer(&length)))
	page := uintptr(syscall.Getpagesize())
	first := (low + page - 1) / page * page
	in := make([]byte, (low+length-first)/page)
	_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, first, uintptr(len(in))*page, uintptr(unsafe.Pointer(&in[0])))
	require.Zero(t, errno)
	for i, b := range in {
		if b&1 != 0 {
			return int(low + length - first - uintptr(i)*page), int(length)
		}
	}
	return 0, int(length)
}
