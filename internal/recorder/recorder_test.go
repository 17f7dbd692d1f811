package recorder

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
)

type (
	FuncPtr uintptr
	inner   struct{ B FuncPtr }
	outer   struct {
		A      FuncPtr
		Number uintptr
		Inner  inner
		Last   FuncPtr
	}
)

func opened(t *testing.T) *Recorder {
	return Open(t, Compile(t, t.TempDir(), "recorded.so", []string{"first", "second"}))
}

func address(t *testing.T, r *Recorder, name string) uintptr {
	t.Helper()
	fn, err := r.library.Symbol(name)
	require.NoError(t, err)
	return fn
}

// Each argument is taken down where it was passed, and the response is done to the letter.
func TestRecorder(t *testing.T) {
	r := opened(t)
	first, second := address(t, r, "first"), address(t, r, "second")

	in, out := &[2]uint32{0x11, 0x22}, new([3]uint16)
	pointing := &struct {
		number uint64
		in     *[2]uint32
	}{7, in}
	r.Play("first",
		Response{Result: Int(-1), Errno: syscall.ENOMEM},
		Response{Result: 0x1122334455667788, Copy: []Memory{{Arg: 1, Length: 8}, {Arg: 2, Path: []int{8}, Length: 4}},
			Fill: []Memory{{Arg: 3, Bytes: Bytes(&[2]uint16{3, 4})}, {Arg: 1, Bytes: []byte{9}}}})
	result, errno := dl.Call(first, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12)
	require.Equal(t, ^uintptr(0), result)
	require.Equal(t, syscall.ENOMEM, errno)
	for range 2 {
		in[0] = 0x11
		result, errno = dl.Call(first, ^uintptr(0), uintptr(unsafe.Pointer(in)), uintptr(unsafe.Pointer(pointing)), uintptr(unsafe.Pointer(out)))
		require.EqualValues(t, 0x1122334455667788, result)
		require.Zero(t, errno)
		require.Equal(t, [3]uint16{3, 4, 0}, *out)
		require.Equal(t, byte(9), Bytes(in)[0])
	}
	result, _ = dl.Call(second, 21, 22)
	require.Zero(t, result)

	calls := r.Calls()
	require.Len(t, calls, 4)
	require.Equal(t, [Words]uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, calls[0].Args)
	require.Empty(t, calls[0].Copied)
	for _, c := range calls[1:3] {
		c.Require(t, "first", int64(-1), in, pointing, out)
		seen := [2]uint32{0x11, 0x22}
		require.Equal(t, [][]byte{Bytes(&seen), Bytes(&seen[0])}, c.Copied, "as it was before the call")
	}
	calls[3].Require(t, "second", uint8(21), int32(22))
	r.Forget()
	require.Empty(t, r.Calls())
	result, _ = dl.Call(first)
	require.Zero(t, result, "what it was told is forgotten too")
	r.Only()
	require.Empty(t, r.Calls())
}

// The members of a struct have functions of their own, and what is not there is not touched.
func TestObject(t *testing.T) {
	r := opened(t)
	o := Object[outer](r)
	require.Zero(t, o.Number)
	for i, fn := range []uintptr{uintptr(o.A), uintptr(o.Inner.B), uintptr(o.Last)} {
		dl.Call(fn, uintptr(i))
	}
	names := []string{"outer.A", "inner.B", "outer.Last"}
	for i, c := range r.Calls() {
		c.Require(t, names[i], i)
	}
	another := Object[outer](r)
	require.Equal(t, *o, *another)

	const tail = unsafe.Sizeof(outer{}) - unsafe.Offsetof(outer{}.Inner)
	start := Tail[outer](r, tail)
	short := *(**[2]FuncPtr)(unsafe.Pointer(&start)) // Safe: as long as the tail.
	require.Equal(t, [2]FuncPtr{FuncPtr(o.Inner.B), o.Last}, *short)
}
