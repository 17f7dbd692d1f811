//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A Go release that moves things must be noticed here: the fallback would be silent.
func TestDirectIsInUse(t *testing.T) {
	recognised, _ := recognise(true)
	require.True(t, recognised)
	require.Equal(t, os.Getenv("GOVERBS_CCALL") != "portable", Direct())
}

func TestWrongLayoutIsRecognised(t *testing.T) {
	tests := []struct {
		name   string
		change func(*layout)
	}{
		{"stack.lo", func(l *layout) { l.stackLo += 8 }},
		{"stack.hi", func(l *layout) { l.stackHi += 8 }},
		{"stackguard0 earlier", func(l *layout) { l.stackGuard -= 8 }},
		{"stackguard0 later", func(l *layout) { l.stackGuard += 8 }},
		{"m earlier", func(l *layout) { l.m -= 8 }},
		{"m later", func(l *layout) { l.m += 8 }},
		{"sched.sp earlier", func(l *layout) { l.schedSP -= 8 }},
		{"sched.sp later", func(l *layout) { l.schedSP += 8 }},
		{"sched.pc earlier", func(l *layout) { l.schedPC -= 8 }},
		{"sched.pc later", func(l *layout) { l.schedPC += 8 }},
		{"sched.g", func(l *layout) { l.schedG += 8 }},
		{"g0", func(l *layout) { l.g0 += 8 }},
		{"g0 far off", func(l *layout) { l.g0 += 1 << 40 }},
		{"m far off", func(l *layout) { l.m += 1 << 46 }},
	}
	mem, err := openMemory()
	require.NoError(t, err)
	defer mem.close()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := assembled
			tt.change(&l)
			require.False(t, l.holds(mem))
		})
	}
}

func TestMemoryDoesNotFault(t *testing.T) {
	mem, err := openMemory()
	require.NoError(t, err)
	defer mem.close()
	known := new(uintptr)
	*known = 0x0123456789abcdef
	require.Equal(t, *known, mem.word(uintptr(unsafe.Pointer(known))))
	require.False(t, mem.failed)
	for _, address := range []uintptr{0, 8, 1 << 46, 1 << 63, ^uintptr(0) - 7, ^uintptr(0)} {
		mem.failed = false
		require.Zero(t, mem.word(address))
		require.True(t, mem.failed, "%#x", address)
	}
	mem.failed = false
	require.Equal(t, *known, mem.word(uintptr(unsafe.Pointer(known))), "a failure must leave nothing behind")
}
