package ccall

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv/internal/dl"
)

// script is struct script of testdata/calls.c.
type script struct {
	result, setErrno           int64
	setBad                     unsafe.Pointer
	sawObject, sawList, sawBad unsafe.Pointer
	sawN, sawFrame, stack      int64
	sum                        int64
}

// keep, in script.setBad, leaves bad alone. It is no address of Go's, and the collector does not mind it.
var keep = pointer(^uintptr(0))

// pointer makes a pointer of C's, which the collector leaves alone, from its address.
func pointer(address uintptr) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&address)) // safe: not memory of Go's
}

// objectVariable tells a process started by a test that testdata/calls.c is compiled already.
const objectVariable = "CCALL_TEST_OBJECT"

// compiled is where the compiled testdata/calls.c is. TestMain removes it.
var compiled string

// compile compiles testdata/calls.c, once.
var compile = sync.OnceValues(func() (object string, err error) {
	if object := os.Getenv(objectVariable); object != "" {
		return object, nil
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	if compiled, err = os.MkdirTemp("", "ccall"); err != nil {
		return "", err
	}
	object = filepath.Join(compiled, "calls.so")
	out, err := exec.Command(compiler, "-shared", "-fPIC", "-O2", "-Wall", "-o", object, "testdata/calls.c").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%s: %w\n%s", compiler, err, out)
	}
	return object, nil
})

// build compiles testdata/calls.c and loads it, once.
var build = sync.OnceValues(func() (*dl.Library, error) {
	object, err := compile()
	if err != nil {
		return nil, err
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

	alignment int64 // of the stack pointer that C gets
}

// What the conventions want the stack pointer to be a multiple of, and what it is on the portable way: purego gives C on
// riscv64 what it finds. No instruction of RV64GC accesses more than 8 bytes at once.
var (
	alignment         = alignmentExcept("s390x")
	portableAlignment = alignmentExcept("s390x", "riscv64")
)

func alignmentExcept(architectures ...string) int64 {
	if slices.Contains(architectures, runtime.GOARCH) {
		return 8
	}
	return 16
}

// bothWays runs a test over what the package uses here, over what it would use with another Go, and over the portable way.
func bothWays(t *testing.T, test func(t *testing.T, w way)) {
	chosen := "direct"
	if !Direct() {
		chosen = "chosen"
	}
	ways := []way{
		{chosen, Post, Poll, alignment},
		{"portable", postPortable, pollPortable, portableAlignment},
	}
	if inRegisters {
		ways = append(ways, way{"direct, arguments on the stack", post, poll, alignment})
	}
	for _, w := range ways {
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
