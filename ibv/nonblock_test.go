//go:build linux

package ibv_test

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
)

// Whether a channel's file blocks is the file's own flag.
func TestSetNonblock(t *testing.T) {
	file, other, err := os.Pipe()
	require.NoError(t, err)
	defer file.Close()
	defer other.Close()
	fd := int(file.Fd())
	ctx := &ibv.Context{AsyncFD: int32(fd), Device: &ibv.Device{}}
	channel := &ibv.CompChannel{Context: ctx, FD: int32(fd)}
	for _, set := range []func(bool) error{channel.SetNonblock, ctx.SetAsyncNonblock} {
		for _, nonblocking := range []bool{true, false, false, true, true} {
			require.NoError(t, set(nonblocking))
			flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
			require.NoError(t, err)
			require.Equal(t, nonblocking, flags&unix.O_NONBLOCK != 0)
		}
	}
	channel.FD = -1
	require.ErrorIs(t, channel.SetNonblock(true), syscall.EBADF)
	require.ErrorContains(t, channel.SetNonblock(true), "set blocking of completion channel (file -1)")
}
