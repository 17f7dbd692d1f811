//go:build device && linux

package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// The list has the device, which opens by its name.
func TestDevices(t *testing.T) {
	devices, err := rdma.Devices()
	require.NoError(t, err)
	require.Contains(t, devices, rdma.DeviceInfo{Name: deviceName, Transport: ibv.TransportIB})
	for _, d := range devices {
		dev, err := rdma.Open(d.Name, rdma.DeviceOptions{})
		require.NoError(t, err)
		require.Equal(t, "device "+d.Name, dev.String())
		require.NoError(t, dev.Close())
	}
}
