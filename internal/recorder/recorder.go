// Package recorder is for tests of calls into C: a C library that does what it is told and remembers what it was asked.
//
// It exports functions under the names of any library, and has more functions for the members of structs that point to
// some. Each takes down its first arguments in the order they came, as whole registers. It can also copy the memory that
// an argument points to, fill it, set errno and return what the test says. The library is made by a C compiler when the
// tests run, from a list of names and nothing else: no prototype tells it what to expect, so it sees what Go passes.
package recorder

import (
	"fmt"
	"reflect"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
)

// Words is how many arguments are taken down of each call. Those that the caller did not pass are whatever was there.
const Words = 12

// Recorder is the library in this process. All goroutines and tests of the process share what it remembers.
type Recorder struct {
	t       testing.TB
	library *dl.Library

	mu      sync.Mutex
	numbers map[string]int // of the functions, by name
	names   []string       // and the other way round
	slots   int            // how many functions have no name yet
}

// Open loads the library that [Compile] made: the process's own again, if that is where the calls go. It begins with nothing
// remembered.
func Open(t testing.TB, path string) *Recorder {
	t.Helper()
	library, err := dl.Open(path)
	require.NoError(t, err)
	r := &Recorder{t: t, library: library, numbers: map[string]int{}}
	total := int(r.call("recorder_total"))
	for i := range total {
		name := dl.Text(r.call("recorder_name", uintptr(i)))
		if name == "" {
			r.slots++
			continue
		}
		r.numbers[name] = i
		r.names = append(r.names, name)
	}
	r.Forget()
	return r
}

// Forget forgets all calls and all that the library was told.
func (r *Recorder) Forget() { r.call("recorder_forget") }

// Response is what a function does when it is called.
type Response struct {
	Result uint64        // what it returns: the whole register, see [Int]
	Errno  syscall.Errno // what it leaves in errno, whatever the result; 0: nothing
	Copy   []Memory      // what it takes down, before it fills anything
	Fill   []Memory
}

// Memory is what an argument leads to.
type Memory struct {
	Arg    int    // the number of the argument, from 0, which is a pointer
	Path   []int  // follow the pointers at these offsets, two at most
	Length int    // how many bytes to copy
	Bytes  []byte // what to fill it with
}

// Int is an int as C returns it, in a whole register.
func Int(n int) uint64 { return uint64(int64(n)) }

// Bytes is a value's memory, to fill something with.
func Bytes[T any](value *T) []byte {
	// Safe: the bytes of the value, copied at once.
	return append([]byte(nil), unsafe.Slice((*byte)(unsafe.Pointer(value)), unsafe.Sizeof(*value))...)
}

// Play tells a function what to do in its next calls. The last response goes for all later ones too. A function that was
// told nothing returns 0. A name is that of a function or, as TYPE.MEMBER, of a member of a struct that [Object] made.
func (r *Recorder) Play(function string, responses ...Response) {
	r.t.Helper()
	number := r.number(function)
	for _, response := range responses {
		c := r.call("recorder_response", uintptr(number), uintptr(response.Result), uintptr(response.Errno))
		for _, m := range response.Copy {
			r.remember(c, m, nil, m.Length)
		}
		for _, m := range response.Fill {
			require.NotEmpty(r.t, m.Bytes, "nothing to fill with")
			r.remember(c, m, m.Bytes, len(m.Bytes))
		}
	}
}

func (r *Recorder) remember(response uintptr, m Memory, bytes []byte, length int) {
	r.t.Helper()
	var offsets [2]uintptr
	require.LessOrEqual(r.t, len(m.Path), len(offsets))
	for i, offset := range m.Path {
		offsets[i] = uintptr(offset)
	}
	r.call("recorder_memory", response, uintptr(m.Arg), uintptr(unsafe.Pointer(unsafe.SliceData(bytes))), uintptr(length),
		uintptr(len(m.Path)), offsets[0], offsets[1])
}

// Call is a call that was made.
type Call struct {
	Function string
	Args     [Words]uint64 // whole registers
	Copied   [][]byte      // in the response's order
}

// Calls returns the calls since the last [Recorder.Forget], in their order.
func (r *Recorder) Calls() []Call {
	r.t.Helper()
	calls := make([]Call, int(r.call("recorder_count")))
	for i := range calls {
		c := &calls[i]
		args := new([Words]uint64)
		c.Function = r.name(int(int32(r.call("recorder_call", uintptr(i), uintptr(unsafe.Pointer(args))))))
		c.Args = *args
		for which := 0; ; which++ {
			length := int(r.call("recorder_copied", uintptr(i), uintptr(which), 0))
			if length < 0 {
				break
			}
			bytes := make([]byte, length+1) // never empty
			r.call("recorder_copied", uintptr(i), uintptr(which), uintptr(unsafe.Pointer(&bytes[0])))
			c.Copied = append(c.Copied, bytes[:length])
		}
	}
	return calls
}

// Only returns the one call that was made, and forgets it and all that the library was told.
func (r *Recorder) Only() Call {
	r.t.Helper()
	calls := r.Calls()
	require.Len(r.t, calls, 1)
	r.Forget()
	return calls[0]
}

// Anything, as an argument of [Call.Require], is any argument that is not 0: a pointer that the test does not know.
var Anything = anything{}

type anything struct{}

// Require requires that the call was of a function, with arguments that are compared by position, each as wide as its Go
// type: C defines no more of a register. Pointers are compared by address; nil is NULL.
func (c Call) Require(t testing.TB, function string, args ...any) {
	t.Helper()
	require.Equal(t, function, c.Function)
	require.LessOrEqual(t, len(args), Words)
	for i, arg := range args {
		if arg == nil {
			arg = uintptr(0)
		}
		if arg == Anything {
			require.NotZero(t, c.Args[i], "%s: argument %d", function, i)
			continue
		}
		v := reflect.ValueOf(arg)
		var want uint64
		switch {
		case v.CanUint():
			want = v.Uint()
		case v.CanInt():
			want = uint64(v.Int())
		default:
			want = uint64(v.Pointer())
		}
		mask := ^uint64(0) >> (64 - 8*v.Type().Size())
		if want&mask != c.Args[i]&mask {
			require.Fail(t, "another argument", "%s: argument %d is %#x, not %#x", function, i, c.Args[i]&mask, want&mask)
		}
	}
}

// Object makes an object of C's: zeroed memory of C, with a function of the recorder's in each member that points to one,
// those of structs within it too. They are named by the Go type and its field: CQEx.StartPoll. It stays for as long as
// the process.
func Object[T any](r *Recorder) *T {
	r.t.Helper()
	address := Tail[T](r, unsafe.Sizeof(*new(T)))
	// Safe: the memory is C's, and is never freed.
	return *(**T)(unsafe.Pointer(&address))
}

// Tail is Object for an object that is only the last size bytes of its type: C structs that grow at their front. It is
// the address where these bytes start. Whoever touches what is before them faults.
func Tail[T any](r *Recorder, size uintptr) uintptr {
	r.t.Helper()
	address := r.call("recorder_object", size)
	require.NotZero(r.t, address, "no memory")
	typ := reflect.TypeFor[T]()
	r.fill(typ, address-(typ.Size()-size), address)
	return address
}

// fill fills the function pointers of an object that would start at an address and does so at another.
func (r *Recorder) fill(typ reflect.Type, address, from uintptr) {
	r.t.Helper()
	for i := range typ.NumField() {
		f := typ.Field(i)
		at := address + f.Offset
		switch {
		case f.Type.Kind() == reflect.Struct:
			r.fill(f.Type, at, from)
		case f.Type.Kind() == reflect.Uintptr && f.Type.Name() == "FuncPtr" && at >= from:
			// Safe: the member is within C's memory.
			**(**uintptr)(unsafe.Pointer(&at)) = r.call("recorder_address", uintptr(r.slot(typ.Name()+"."+f.Name)))
		}
	}
}

// slot is the function for a member, the same for all objects of the type.
func (r *Recorder) slot(name string) int {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := r.numbers[name]
	if !ok {
		require.Positive(r.t, r.slots, "there are more members than Slots")
		r.slots--
		number = len(r.names)
		r.names = append(r.names, name)
		r.numbers[name] = number
	}
	return number
}

func (r *Recorder) number(function string) int {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	number, ok := r.numbers[function]
	require.True(r.t, ok, "the recorder has no %s", function)
	return number
}

func (r *Recorder) name(number int) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if number >= len(r.names) {
		return fmt.Sprintf("function %d", number)
	}
	return r.names[number]
}

// call calls one of the library's own functions.
//
//go:uintptrescapes
func (r *Recorder) call(name string, args ...uintptr) uintptr {
	r.t.Helper()
	fn, err := r.library.Symbol(name)
	require.NoError(r.t, err)
	result, _ := dl.Call(fn, args...)
	return result
}
