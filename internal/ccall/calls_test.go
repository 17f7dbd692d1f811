package ccall

import (
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
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
	post postFunc
	poll func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)

	alignment int64 // of the stack pointer that C gets
	batch     int32 // how many completions C is asked for at most; it gets memory of its own if that is not all
}

// asPost makes of a PostFrom what Post is.
func asPost(from fromFunc) postFunc {
	return func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
		shown := new(int64)
		got, err := from(fn, object, list, nil, func(first unsafe.Pointer, r, e int32, b uintptr) (unsafe.Pointer, error) {
			result, errno, bad = r, e, b
			if first != list {
				panic("refused was given another list")
			}
			return unsafe.Pointer(shown), errRefused
		})
		return checked(result, errno, bad, got == unsafe.Pointer(shown), got == nil, err)
	}
}

// asPostOf makes of a PostList what Post is.
func asPostOf(postList listFunc) postFunc {
	return func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
		l := &List{First: list, Len: 7}
		got, err := postList(fn, object, l, nil, func(refused *List, r, e int32, b uintptr) (int, error) {
			result, errno, bad = r, e, b
			if refused != l {
				panic("refused was given another list")
			}
			return 3, errRefused
		})
		if l.bad != 0 {
			panic("the list is not fit for another call")
		}
		return checked(result, errno, bad, got == 3, got == 7, err)
	}
}

// ofBound makes of what binds a list's post, or a poll, what the call itself is.
func ofBound(bind listBinder) listFunc {
	return func(fn uintptr, object unsafe.Pointer, l *List, _ unsafe.Pointer, refused ListRefused) (int, error) {
		return bind(fn, object, refused)(l, 0, 0)
	}
}

func ofBoundPoll(bind pollBinder) pollFunc {
	return func(fn uintptr, cq, into unsafe.Pointer, n int, failed PollFailed) (int, error) {
		return bind(fn, cq, failed)(into, n, 0)
	}
}

// ofCall makes of a Call what Post is.
func ofCall(call callFunc) postFunc {
	return func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
		slot := new(uintptr)
		r, errno := call(fn, uintptr(object), uintptr(list), uintptr(unsafe.Pointer(slot)), 4, 5, 6)
		runtime.KeepAlive(object)
		runtime.KeepAlive(list)
		return int32(r), errno, *slot
	}
}

// ofPair makes of a Pair what Post is, with a poll behind it that takes nothing.
func ofPair(makePair func(*Pair)) postFunc {
	return func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
		into := new([5 * CompletionSize]byte)
		s := &script{result: 2, setErrno: 77}
		p := &Pair{PostFn: fn, Object: object, List: list, Bad: 1, PollFn: pollScript(), CQ: unsafe.Pointer(s), Into: unsafe.Pointer(into), Room: 5}
		makePair(p)
		if p.Got != 2 || p.PollErrno != 0 || s.sawObject != unsafe.Pointer(s) || Direct() && s.sawList != unsafe.Pointer(into) || s.sawN != 5 {
			panic(fmt.Sprint("the poll behind the post: ", *p, *s))
		}
		return p.PostResult, p.PostErrno, p.Bad
	}
}

// ofPairs makes of a Pair what poll is, with a post before it that fails.
func ofPairs(makePair func(*Pair)) func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
		list := new(int64)
		s := &script{result: -1, setErrno: 78, setBad: unsafe.Pointer(list), sawBad: unsafe.Pointer(list)}
		p := &Pair{PostFn: postScript(), Object: unsafe.Pointer(s), List: unsafe.Pointer(list), Bad: 1, PollFn: fn, CQ: cq, Into: wc, Room: n}
		makePair(p)
		if p.PostResult != -1 || p.PostErrno != 78 || p.Bad != uintptr(unsafe.Pointer(list)) || s.sawList != unsafe.Pointer(list) || s.sawBad != nil {
			panic(fmt.Sprint("the post before the poll: ", *p, *s))
		}
		return p.Got, p.PollErrno
	}
}

// The functions of testdata/calls.c that a Pair is tested with.
var (
	postScript = sync.OnceValue(func() uintptr { return mustFind("post_script") })
	pollScript = sync.OnceValue(func() uintptr { return mustFind("poll_script") })
)

func mustFind(name string) uintptr {
	library, err := build()
	if err != nil {
		panic(err) // the tests that use it have built it before
	}
	address, err := library.Symbol(name)
	if err != nil {
		panic(err)
	}
	return address
}

var errRefused = errors.New("refused")

// checked passes on what a refusal was given, and panics unless the caller got what refused returned, and what it should
// get when refused was not called.
func checked(result, errno int32, bad uintptr, refused, accepted bool, err error) (int32, int32, uintptr) {
	called := result != 0 || bad != 0
	if called != refused || called != (err == errRefused) || called == accepted || !called && err != nil {
		panic(fmt.Sprint("result ", result, ", bad ", bad, ", refused ", refused, ", accepted ", accepted, ": ", err))
	}
	return result, errno, bad
}

// counted makes of a Poll what poll is.
func counted(pollInto pollFunc) func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
		got, err := pollInto(fn, cq, wc, int(n), func(queue unsafe.Pointer, r, e, asked int32) (int, error) {
			result, errno = r, e
			if queue != cq || asked != n {
				panic("failed was given another queue or another number")
			}
			return 3, errRefused
		})
		if failed := result < 0 || result > n; failed != (err == errRefused) || failed && got != 3 || !failed && err != nil {
			panic(fmt.Sprint("result ", result, ", got ", got, ": ", err))
		} else if !failed {
			result = int32(got)
		}
		return result, errno
	}
}

// What the conventions want the stack pointer to be a multiple of, and what it is on the portable way: purego gives C on
// loong64 and riscv64 what it finds. No instruction of RV64GC accesses more than 8 bytes at once, and the loong64
// processors with instructions that do access what is not aligned too.
var (
	alignment         = alignmentExcept("s390x")
	portableAlignment = alignmentExcept("s390x", "loong64", "riscv64")
)

func alignmentExcept(architectures ...string) int64 {
	if slices.Contains(architectures, runtime.GOARCH) {
		return 8
	}
	return 16
}

// bothWays runs a test over the calls that the package makes here, those it would make with another Go, and the portable
// way.
func bothWays(t *testing.T, test func(t *testing.T, w way)) {
	chosen, batch := "direct", int32(math.MaxInt32)
	if !Direct() {
		chosen, batch = "chosen", portableBatch
	}
	ways := []way{
		{chosen, Post, counted(Poll), alignment, batch},
		{chosen + ", from", asPost(PostFrom), counted(Poll), alignment, batch},
		{chosen + ", list", asPostOf(PostList), counted(Poll), alignment, batch},
		{chosen + ", bound", asPostOf(ofBound(BindList)), counted(ofBoundPoll(BindPoll)), alignment, batch},
		{chosen + ", call", ofCall(Call), counted(Poll), alignment, batch},
		{chosen + ", pair", ofPair((*Pair).Make), ofPairs((*Pair).Make), alignment, batch},
		{"portable", postPortable, pollPortable, portableAlignment, portableBatch},
	}
	if inRegisters {
		ways = append(ways,
			way{"direct, step by step", post, poll, alignment, math.MaxInt32},
			way{"direct, step by step, from", asPost(postFrom), counted(pollInto), alignment, math.MaxInt32},
			way{"direct, step by step, bound", asPostOf(ofBound(bindList)), counted(ofBoundPoll(bindPoll)), alignment, math.MaxInt32},
			way{"direct, step by step, call", ofCall(callAny), poll, alignment, math.MaxInt32},
			way{"direct, step by step, list", asPostOf(postList), counted(pollInto), alignment, math.MaxInt32})
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
