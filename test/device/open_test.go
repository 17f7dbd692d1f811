//go:build device && linux

package device

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// A device that is there, and cannot be had: the error says why.
func TestOpenWhatCannotBeHad(t *testing.T) {
	node := nodeOf(t, deviceName)
	providers, err := guest.Providers()
	require.NoError(t, err)
	require.NotEmpty(t, providers)
	const eachNode = "for n in /sys/class/infiniband_verbs/uverbs*; "
	const asNobody = "exec setpriv --reuid 65534 --regid 65534 --clear-groups "
	for name, tt := range map[string]struct {
		setup string // a shell's commands, in a mount namespace of its own
		errno syscall.Errno
		text  string
	}{
		"container without the nodes": {"mount -t tmpfs none /dev/infiniband; exec ", syscall.ENOENT, "the kernel has rxe0, but " + node + " is missing: a container is given it with --device " + node},
		"somebody else's":             {"mkdir -p /tmp/nodes; mount -t tmpfs none /tmp/nodes; cp -a /dev/infiniband/* /tmp/nodes; chmod 600 /tmp/nodes/*; mount --bind /tmp/nodes /dev/infiniband; " + asNobody, syscall.EACCES, "user 65534 may not open " + node + " (0600, of user 0 and group 0)"},
		"a folder that is closed":     {"mount -t tmpfs -o mode=700 none /dev/infiniband; " + asNobody, syscall.EACCES, "user 65534 may not open " + node + ", nor look into its folder"},
		"stale node":                  {"mount -t tmpfs none /dev/infiniband; " + eachNode + "do mknod -m 666 /dev/infiniband/${n##*/} c 231 77; done; exec ", syscall.ENXIO, "but 231:77: make it again"},
		"a mount without devices":     {"mount -t tmpfs -o nodev none /dev/infiniband; " + eachNode + "do mknod -m 666 /dev/infiniband/${n##*/} c $(tr : ' ' <$n/dev); done; exec ", syscall.EACCES, node + " is on a file system that is mounted without devices"},
		"no provider's library":       {guest.Hide(providers[0]) + "exec ", syscall.ENODEV, "libibverbs.d names none that is there; " + providers[0] + " is without the libraries of "},
		"no provider's name":          {guest.Hide(guest.ProvidersNames()...) + "exec ", syscall.ENODEV, "libibverbs.d names none); install"},
		"too few descriptors":         {"ulimit -n 4; exec ", syscall.EMFILE, "used up its 4 file descriptors"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("unshare", "--mount", "sh", "-c", tt.setup+`"$0" -test.run='^TestOpenElsewhere$'`, os.Args[0])
			cmd.Env = append(os.Environ(), elsewhere+"="+fmt.Sprint(int(tt.errno)))
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s", out)
			require.Contains(t, string(out), "by name: ibv: open RDMA device \"rxe0\": ")
			require.Regexp(t, "(?s)by name: .*"+regexp.QuoteMeta(tt.text)+".*the first: .*"+regexp.QuoteMeta(tt.text), string(out))
		})
	}
}

// nodeOf is the file that a device is opened by.
func nodeOf(t *testing.T, device string) string {
	t.Helper()
	nodes, err := filepath.Glob("/sys/class/infiniband_verbs/uverbs*")
	require.NoError(t, err)
	for _, node := range nodes {
		name, err := os.ReadFile(filepath.Join(node, "ibdev"))
		require.NoError(t, err)
		if strings.TrimSpace(string(name)) == device {
			return "/dev/infiniband/" + filepath.Base(node)
		}
	}
	require.Fail(t, "no node", "of %s among %v", device, nodes)
	return ""
}

const elsewhere = "GOVERBS_TEST_ELSEWHERE"

// TestOpenElsewhere is what TestOpenWhatCannotBeHad runs in another process.
func TestOpenElsewhere(t *testing.T) {
	if os.Getenv(elsewhere) == "" {
		return
	}
	_, err := ibv.Open(deviceName)
	require.Error(t, err)
	fmt.Println("by name:", err)
	_, first := ibv.Open("")
	require.Error(t, first)
	fmt.Println("the first:", first)
	var want int
	_, scanErr := fmt.Sscan(os.Getenv(elsewhere), &want)
	require.NoError(t, scanErr)
	require.ErrorIs(t, err, syscall.Errno(want))
	require.ErrorIs(t, first, syscall.Errno(want))
}

// Memory that may not be locked comes with the limit there is.
func TestTooMuchLockedMemory(t *testing.T) {
	if os.Getenv(elsewhere) == "" {
		cmd := exec.Command("sh", "-c", `ulimit -l 128; exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0" -test.v -test.run='^TestTooMuchLockedMemory$'`, os.Args[0])
		cmd.Env = append(os.Environ(), elsewhere+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestTooMuchLockedMemory")
		return
	}
	r := newRig(t)
	_, err := r.pd.RegMR(make([]byte, 1<<20), access)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorContains(t, err, "the limit of locked memory, which is 128 KiB (ulimit -l)")
}
