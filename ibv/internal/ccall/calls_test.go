package ccall

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv/internal/dl"
)

// script is struct script of testdata/calls.c.
type script struct {
	result, setErrno             int64
	setBad                       unsafe.Pointer
	sawObject, sawList, sawBad   unsafe.Pointer
	sawN, sawMisalignment, stack int64
	sum                          int64
}

// keep, in script.setBad, leaves bad alone. It is no address of Go's, and the collector does not mind it.
var keep = pointer(^uintptr(0))

// pointer makes a pointer of C's, which the collector leaves alone, from its address.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)) // safe: not memory of Go's
}

// build compiles testdata/calls.c and loads it, once.
var build = sync.OnceValues(func() (*dl.Library, error) {
	dir, err := os.MkdirTemp("", "ccall")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	object := filepath.Join(dir, "calls.so")
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", object, "testdata/calls.c").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return dl.Open(object)
})

// symbol returns a function of testdata/calls.c. Without a C compiler there is nothing to test against, which has to be
// admitted with GOVERBS_NO_CC=1.
func symbol(t testing.TB, name string) uintptr {
	t.Helper()
	if os.Getenv("GOVERBS_NO_CC") == "1" {
		t.Skip("GOVERBS_NO_CC=1: no C compiler to test against")
	}
	library, err := build()
	require.NoError(t, err, "compile testdata/calls.c (GOVERBS_NO_CC=1 does without a C compiler)")
	address, err := library.Symbol(name)
	require.NoError(t, err)
	return address
}

type way struct {
	name string
	post func(uintptr, unsafe.Pointer, unsafe.Pointer) (int32, int32, unsafe.Pointer)
	poll func(uintptr, unsafe.Pointer, int32, unsafe.Pointer) (int32, int32)
}

// bothWays runs a test over what the package uses here and over the portable way.
func bothWays(t *testing.T, test func(t *testing.T, w way)) {
	chosen := "direct"
	if !Direct() {
		chosen = "chosen"
	}
	for _, w := range []way{{chosen, Post, Poll}, {"portable", postPortable, pollPortable}} {
		t.Run(w.name, func(t *testing.T) { test(t, w) })
	}
}

// onManyThreads runs f in goroutines, half of them locked to threads.
func onManyThreads(n int, f func(i int)) {
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			if i%2 == 0 {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
			}
			f(i)
		})
	}
	group.Wait()
}
