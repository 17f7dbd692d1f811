package system

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The numbers are the system's on each target, or this does not compile.
const (
	_ = uint(RlimitMemlock-unix.RLIMIT_MEMLOCK) + uint(unix.RLIMIT_MEMLOCK-RlimitMemlock)
	_ = uint(OPath-unix.O_PATH) + uint(unix.O_PATH-OPath)
	_ = uint(StNoDev-unix.ST_NODEV) + uint(unix.ST_NODEV-StNoDev)
	_ = uint(MapHugeShift-unix.MAP_HUGE_SHIFT) + uint(unix.MAP_HUGE_SHIFT-MapHugeShift)
	_ = uint(MadvPopulateWrite-unix.MADV_POPULATE_WRITE) + uint(unix.MADV_POPULATE_WRITE-MadvPopulateWrite)
	_ = uint(MpolBind-unix.MPOL_BIND) + uint(unix.MPOL_BIND-MpolBind)
)

func TestDeviceNumbers(t *testing.T) {
	for _, number := range []uint64{0, 0x103, unix.Mkdev(231, 192), unix.Mkdev(0xfffff, 0xabcde), unix.Mkdev(0x12345, 0xff), 1<<64 - 1} {
		major, minor := DeviceNumbers(number)
		require.Equal(t, unix.Major(number), major)
		require.Equal(t, unix.Minor(number), minor)
	}
}

// Memory is zero and for writing, and parts of it go back alone.
func TestMap(t *testing.T) {
	page := uintptr(syscall.Getpagesize())
	start, err := Map(3*page, 0)
	require.NoError(t, err)
	memory := unsafe.Slice((*byte)(start), 3*page)
	for _, b := range memory {
		require.Zero(t, b)
	}
	memory[0], memory[3*page-1] = 1, 2
	require.NoError(t, Unmap(unsafe.Add(start, page), page))
	mapped := func(at uintptr) syscall.Errno {
		var state byte
		_, _, errno := syscall.Syscall(syscall.SYS_MINCORE, uintptr(start)+at, page, uintptr(unsafe.Pointer(&state)))
		return errno
	}
	require.Zero(t, mapped(0))
	require.Equal(t, syscall.ENOMEM, mapped(page))
	require.Zero(t, mapped(2*page))
	require.EqualValues(t, 3, memory[0]+memory[3*page-1])
	require.NoError(t, Unmap(start, page))
	require.NoError(t, Unmap(unsafe.Add(start, 2*page), page))

	_, err = Map(1<<62, 0)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorIs(t, Unmap(unsafe.Add(start, 1), page), syscall.EINVAL)
}
