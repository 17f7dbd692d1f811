//go:build device && linux

package rdma

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// contained runs the calling test in a process with mounts and a network namespace of its own, as containers are. There it
// is true, and the test goes on; in this process nothing is left to do. prepare is what the shell does there before.
func contained(t *testing.T, prepare string) bool {
	t.Helper()
	const role = "GOVERBS_TEST_CONTAINED"
	if os.Getenv(role) == t.Name() {
		return true
	}
	program, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.Command("unshare", "--net", "--mount", "--propagation", "private",
		"sh", "-ec", "mount -t sysfs sys /sys; "+prepare+`exec "$0" "$@"`, program, "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), role+"="+t.Name())
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Contains(t, string(said), "--- PASS: "+t.Name())
	return false
}

// By default a container has the machine's devices and addresses, whatever network it has.
func TestSharedNamespaces(t *testing.T) {
	if !contained(t, "") {
		return
	}
	r := newRig(t)
	gids, err := r.dev.Raw().GIDs(1)
	require.NoError(t, err)
	require.NotEmpty(t, gids, "those of interfaces that are not the container's")
}

// The table has GIDs of interfaces that are not the container's, and one of those may have the number of one that is.
func TestInterfaceOfAnotherNamespace(t *testing.T) {
	prepare := ""
	if host, err := net.InterfaceByName("rx0"); err == nil {
		prepare = fmt.Sprintf("ip link add pod0 index %d type dummy; ip link set pod0 up; ", host.Index)
	}
	if !contained(t, prepare) {
		return
	}
	r := newRig(t)
	_, err := r.dev.ChooseGID(rdma.GIDChoice{Interface: "pod0"})
	require.ErrorIs(t, err, syscall.EADDRNOTAVAIL)
	any, err := r.dev.ChooseGID(rdma.GIDChoice{})
	require.NoError(t, err, "what there is will do where nothing is asked for")
	require.Equal(t, "::ffff:10.9.9.1", any.GID.String())
}

// Where devices are in one network namespace each, the others have none, and are told so.
func TestExclusiveNamespaces(t *testing.T) {
	if os.Getenv("GOVERBS_TEST_CONTAINED") == "" {
		setNamespaces(t, "exclusive")
		t.Cleanup(func() { setNamespaces(t, "shared") })
	}
	if !contained(t, "") {
		return
	}
	for _, name := range []string{deviceName, ""} {
		_, err := rdma.Open(name, rdma.DeviceOptions{})
		require.ErrorIs(t, err, syscall.ENODEV)
		require.ErrorContains(t, err, "the machine has no RDMA device")
		require.ErrorContains(t, err, "a network namespace may not have the machine's (rdma system)")
	}
}

// setNamespaces says whether network namespaces share devices. The kernel refuses it while there are any, and one that a
// process has left takes a moment to go.
func setNamespaces(t *testing.T, mode string) {
	require.Eventually(t, func() bool {
		return exec.Command("rdma", "system", "set", "netns", mode).Run() == nil
	}, patience, 10*time.Millisecond)
}

// An image without the device's provider is told which package it lacks.
func TestMissingProvider(t *testing.T) {
	if !contained(t, guest.Hide(guest.ProvidersNames()...)) {
		return
	}
	for _, name := range []string{deviceName, ""} {
		_, err := rdma.Open(name, rdma.DeviceOptions{})
		require.ErrorIs(t, err, syscall.ENODEV)
		require.ErrorContains(t, err, "the kernel has "+deviceName+", and libibverbs no provider for it (")
		require.ErrorContains(t, err, "libibverbs.d names none)")
		require.ErrorContains(t, err, "ibverbs-providers")
	}
}
