//go:build unix

package system

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Every errno has the name that it has elsewhere, and what is none has none.
func TestErrnoName(t *testing.T) {
	differ := map[string]string{ // the first is what x/sys/unix says
		"ENOTSUP": "EOPNOTSUPP", "EFSCORRUPTED": "EUCLEAN", // two names of the same on Linux
		"EWOULDBLOCK": "EAGAIN", // and on FreeBSD
	}
	named := 0
	for errno := range syscall.Errno(4096) {
		want, got := unix.ErrnoName(errno), ErrnoName(errno)
		if other, known := differ[want]; known && got != want {
			want = other
		}
		if got == "" && runtime.GOOS != "linux" && runtime.GOOS != "freebsd" {
			continue // whose own names are not needed
		}
		require.Equal(t, want, got, "errno %d", errno)
		if got != "" {
			named++
		}
	}
	require.Greater(t, named, 70)
}

// A pipe is asked whether reading it waits, in both ways, and what is no file is an error.
func TestNonblocking(t *testing.T) {
	var ends [2]int
	require.NoError(t, syscall.Pipe(ends[:]))
	t.Cleanup(func() { _, _ = syscall.Close(ends[0]), syscall.Close(ends[1]) })
	for _, ask := range []func(int) (bool, error){Nonblocking, pollable} {
		for _, want := range []bool{true, false, true} {
			require.NoError(t, syscall.SetNonblock(ends[0], want))
			for range 3 { // asking changes nothing
				got, err := ask(ends[0])
				require.NoError(t, err)
				require.Equal(t, want, got)
			}
		}
		_, err := ask(1 << 30)
		require.ErrorIs(t, err, syscall.EBADF)
	}
}

// Asking leaves no files open.
func TestPollableLeavesNothing(t *testing.T) {
	open := func() int {
		fd, err := syscall.Dup(int(os.Stdin.Fd()))
		require.NoError(t, err)
		require.NoError(t, syscall.Close(fd))
		return fd
	}
	var ends [2]int
	require.NoError(t, syscall.Pipe(ends[:]))
	t.Cleanup(func() { _, _ = syscall.Close(ends[0]), syscall.Close(ends[1]) })
	require.NoError(t, syscall.SetNonblock(ends[0], true))
	before := open()
	for range 50 {
		_, err := pollable(ends[0])
		require.NoError(t, err)
	}
	require.Less(t, open(), before+50)
}
