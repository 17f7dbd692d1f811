//go:build linux || freebsd

package ibv

import (
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// Not enough memory comes with the limit that there is now.
func TestMemoryHint(t *testing.T) {
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_MEMLOCK, &before))
	defer func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &before)) }()
	limit := before
	limit.Cur = 64 << 10
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit))
	for _, hints := range []map[syscall.Errno]string{memoryHints, sizeHints} {
		err := action{op: "do this", hints: hints}.failed(syscall.ENOMEM)
		require.ErrorContains(t, err, "the limit of locked memory, which is 64 KiB (ulimit -l)")
	}
	for _, hints := range []map[syscall.Errno]string{nil, closeHints, numberHints} {
		err := action{op: "do this", hints: hints}.failed(syscall.ENOMEM)
		require.ErrorContains(t, err, "not enough memory")
		require.NotContains(t, err.Error(), "ulimit -l", "nothing is locked")
	}
	if before.Max == unix.RLIM_INFINITY {
		limit.Cur = unix.RLIM_INFINITY
		require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &limit))
		require.Contains(t, memoryHint(), "there is none")
	}

	_, err := AllocBuffer(math.MaxInt - 4096)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotContains(t, err.Error(), "ulimit -l", "a buffer locks nothing")
}

func TestBytesText(t *testing.T) {
	for n, want := range map[uint64]string{0: "0 bytes", 1: "1 bytes", 1023: "1023 bytes", 1024: "1 KiB", 1025: "1025 bytes", 8 << 20: "8 MiB", 3 << 29: "1536 MiB", 5 << 50: "5120 TiB"} {
		require.Equal(t, want, bytesText(n))
	}
}
