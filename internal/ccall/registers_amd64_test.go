//go:build linux && !go1.28

package ccall

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// This Go passes arguments as the assembly expects: otherwise the faster way would be gone without a word.
func TestInRegisters(t *testing.T) {
	require.True(t, registersHold())
	require.Equal(t, direct, inRegisters)
}

// A goroutine's place is saved whenever it is another one than last time, because the report of a fault shows it.
func TestPlaceIsSaved(t *testing.T) {
	if !inRegisters {
		t.Skip("the direct call is not in use here")
	}
	fn, list := symbol(t, "post_empty"), unsafe.Pointer(new(int64))
	// Safe: the words of the goroutine that runs this; a system call would write to them.
	saved := func() (pc, sp uintptr) {
		g, _ := probe()
		return *(*uintptr)(unsafe.Add(pointer(g), offSchedPC)), *(*uintptr)(unsafe.Add(pointer(g), offSchedSP))
	}
	var pcs, sps [3]uintptr
	for i := range 2 { // from one place, twice
		Post(fn, nil, list)
		pcs[i], sps[i] = saved()
	}
	Poll(fn, nil, list, 1, nil) // from another place
	pcs[2], sps[2] = saved()
	require.NotZero(t, pcs[0])
	require.Equal(t, pcs[0], pcs[1])
	require.Equal(t, sps[0], sps[1])
	require.NotEqual(t, pcs[0], pcs[2])

	var deep func(n int) (pc, sp uintptr)
	deep = func(n int) (pc, sp uintptr) {
		if n > 0 {
			pc, sp = deep(n - 1)
			return pc, sp
		}
		Post(fn, nil, list)
		return saved()
	}
	pc1, sp1 := deep(1)
	pc2, sp2 := deep(2) // from the same place, deeper
	require.Equal(t, pc1, pc2)
	require.Less(t, sp2, sp1)
}
