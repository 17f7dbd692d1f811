//go:build linux

// Package guest is for tests in the guest: it changes what their devices stand on.
package guest

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// SetLink sets the interface of the guest's devices up or down.
func SetLink(t *testing.T, up bool) {
	t.Helper()
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	ifreq, err := unix.NewIfreq("rx0")
	require.NoError(t, err)
	require.NoError(t, unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, ifreq))
	ifreq.SetUint16(ifreq.Uint16() &^ unix.IFF_UP)
	if up {
		ifreq.SetUint16(ifreq.Uint16() | unix.IFF_UP)
	}
	require.NoError(t, unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, ifreq))
}
