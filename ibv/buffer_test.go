package ibv_test

import (
	"fmt"
	"math"
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestBuffer(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{1, 100, page - 1, page, page + 1, 1 << 20} {
		buf, err := ibv.AllocBuffer(size)
		require.NoError(t, err)
		require.Len(t, buf, size)
		require.Equal(t, size, cap(buf))
		require.Zero(t, uintptr(unsafe.Pointer(&buf[0]))%uintptr(page))
		for i, b := range buf {
			if b != 0 {
				require.Zero(t, b, "byte %d", i)
			}
			buf[i] = 0xff
		}
		require.NoError(t, buf.Free())
	}
}

func TestBufferOfAbsurdSize(t *testing.T) {
	for size, errno := range map[int]syscall.Errno{
		0: syscall.EINVAL, -1: syscall.EINVAL, math.MinInt: syscall.EINVAL, 1 << 60: syscall.ENOMEM, math.MaxInt: syscall.ENOMEM,
	} {
		buf, err := ibv.AllocBuffer(size)
		require.Nil(t, buf)
		require.ErrorIs(t, err, errno)
		require.ErrorContains(t, err, fmt.Sprintf("allocate a buffer of %d bytes", size))
	}
}

func TestBufferFreedWrongly(t *testing.T) {
	page := os.Getpagesize()
	buf, err := ibv.AllocBuffer(3 * page)
	require.NoError(t, err)
	for name, part := range map[string]ibv.Buffer{
		"nil":            nil,
		"none of it":     buf[:0],
		"the first page": buf[:page],
		"with its end":   buf[:page:page],
		"the last page":  buf[2*page:],
		"all but a byte": buf[1:],
		"the Go heap's":  make([]byte, page),
	} {
		err := part.Free()
		require.ErrorIs(t, err, syscall.EINVAL, name)
		require.ErrorContains(t, err, fmt.Sprintf("free a buffer of %d bytes", len(part)))
		require.ErrorContains(t, err, "not a whole buffer")
	}
	for i := range buf {
		buf[i] = 1 // all of it is still there
	}
	require.NoError(t, buf.Free())
	err = buf.Free()
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "freed before")
}
