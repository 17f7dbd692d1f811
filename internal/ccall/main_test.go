package ccall

import (
	"os"
	"runtime"
	"testing"
)

// onMain hands a function to the process's first thread, whose stack is not one of pthread_create's.
var onMain = make(chan func())

func init() { runtime.LockOSThread() } // keeps TestMain on the first thread

func TestMain(m *testing.M) {
	if role := os.Getenv("CCALL_TEST_ROLE"); role != "" {
		play(role)
		return
	}
	done := make(chan int)
	go func() {
		code := m.Run()
		_ = os.RemoveAll(compiled)
		done <- code
	}()
	for {
		select {
		case f := <-onMain:
			f()
		case code := <-done:
			os.Exit(code)
		}
	}
}

// mainThread runs f on the process's first thread.
func mainThread(f func()) {
	done := make(chan struct{})
	onMain <- func() {
		defer close(done)
		f()
	}
	<-done
}
