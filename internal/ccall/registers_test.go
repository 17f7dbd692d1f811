package ccall

import (
	"testing"
	"unsafe"

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
			require.Equal(t, uintptr(unsafe.Pointer(list)), bad)
			require.Equal(t, n+1, *counter)
			for k := range f { // compilers keep a register zero; clearing memory shows it
				require.Equal(t, [4]int64{}, *new([4]int64))
				f[k]++
				i[k]++
			}
		}
		require.Equal(t, [4]float64{1001.5, 1002.5, 1003.5, 1004.5}, f)
		require.Equal(t, [4]int64{1001, 1002, 1003, 1004}, i)
	})
}

// Nor does a program that is played, or a poll, lose any of it.
func TestRegistersOverPrograms(t *testing.T) {
	clobber := symbol(t, "object_clobber")
	o, q := &object{setErrno: untouched}, &queue{nextFailsAt: -1}
	p, poll, into := program(o), extendedPoll(q), new([5]record)
	p.Start, p.Complete = clobber, clobber
	steps := []Step{{Op: clobber, Data: clobber, Plain: 1}, {Op: clobber, Address: clobber, Data: clobber}}
	poll.Fill, poll.OnSuccess = clobber, Reads(Read{clobber, 16}, Read{clobber, 24})
	f, i := [4]float64{1.5, 2.5, 3.5, 4.5}, [4]int64{1, 2, 3, 4}
	for range 1000 {
		result, errno := p.Play(steps)
		require.Equal(t, [2]int32{-1, 1}, [2]int32{result, errno})
		got, result, errno := poll.Poll(unsafe.Pointer(into), len(into))
		require.Equal(t, [3]int{5, 0, 0}, [3]int{got, int(result), int(errno)})
		for k := range f {
			require.Equal(t, [4]int64{}, *new([4]int64))
			f[k]++
			i[k]++
		}
	}
	require.Equal(t, [4]float64{1001.5, 1002.5, 1003.5, 1004.5}, f)
	require.Equal(t, [4]int64{1001, 1002, 1003, 1004}, i)
}
