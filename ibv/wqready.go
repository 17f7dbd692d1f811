package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// The C library's functions, found by way of libibverbs, which needs them too: so
// they are those that it and the process use.
var (
	pthreadMutexInit = clib.Function{Library: &cLibrary, Name: "pthread_mutex_init"}
	pthreadCondInit  = clib.Function{Library: &cLibrary, Name: "pthread_cond_init"}
)

// canFinishWQ is an error if finishWQ would fail.
func canFinishWQ() error {
	if _, err := pthreadMutexInit.Address(); err != nil {
		return err
	}
	_, err := pthreadCondInit.Address()
	return err
}

// finishWQ does to a new work queue what C's inline function does: it makes the
// mutex and the condition, which [AsyncEvent.Ack] and [WQ.Close] use.
func finishWQ(wq *WQ, wqContext uintptr) error {
	wq.WQContext = wqContext
	wq.EventsCompleted = 0
	// Safe: the memory is C's, and has room for C's mutex and condition there.
	if err := pthreadMutexInit.Errno(uintptr(unsafe.Pointer(&wq.Mutex)), 0); err != nil {
		return err
	}
	return pthreadCondInit.Errno(uintptr(unsafe.Pointer(&wq.Cond)), 0)
}
