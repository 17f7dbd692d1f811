package ibv

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// fakeHost is a machine with the RDMA device rdma0, whose character device
// uverbs0 is what the test puts there.
func fakeHost(t *testing.T) host {
	t.Helper()
	root, err := os.MkdirTemp("", "host") // open to every user, unlike t.TempDir
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(root)) })
	require.NoError(t, os.Chmod(root, 0o755))
	h := host{
		sys: filepath.Join(root, "sys"), dev: filepath.Join(root, "dev"),
		drivers: filepath.Join(root, "libibverbs.d"), maps: filepath.Join(root, "maps"),
	}
	put(t, filepath.Join(h.sys, "infiniband", "rdma0", "node_type"), "1: CA\n")
	put(t, filepath.Join(h.sys, "infiniband_verbs", "abi_version"), "6\n")
	put(t, filepath.Join(h.sys, "infiniband_verbs", "uverbs7", "ibdev"), "another0\n")
	put(t, filepath.Join(h.sys, "infiniband_verbs", "uverbs0", "ibdev"), "rdma0\n")
	// /dev/null's numbers, for that is a device that everybody may open.
	put(t, filepath.Join(h.sys, "infiniband_verbs", "uverbs0", "dev"), "1:3\n")
	require.NoError(t, os.Mkdir(h.dev, 0o755))
	return h
}

func put(t *testing.T, file, text string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
}

func TestClosedDevice(t *testing.T) {
	requireFault := func(t *testing.T, f *fault, errno syscall.Errno, texts ...string) {
		t.Helper()
		require.NotNil(t, f)
		require.Equal(t, errno, f.errno)
		for _, text := range texts {
			require.Contains(t, f.text, text)
		}
	}
	t.Run("can be opened", func(t *testing.T) {
		h := fakeHost(t)
		require.NoError(t, os.Symlink("/dev/null", filepath.Join(h.dev, "uverbs0")))
		require.Nil(t, h.closed("rdma0"))
		require.Equal(t, []string{"rdma0"}, h.devices())
	})
	t.Run("no folder", func(t *testing.T) {
		h := fakeHost(t)
		require.NoError(t, os.Remove(h.dev))
		requireFault(t, h.closed("rdma0"), syscall.ENOENT, "the kernel has rdma0", h.dev+"/uverbs0 is missing", "--device "+h.dev+"/uverbs0")
	})
	t.Run("no node", func(t *testing.T) {
		h := fakeHost(t)
		requireFault(t, h.unlisted("rdma0"), syscall.ENOENT, h.dev+"/uverbs0 is missing")
	})
	t.Run("another device", func(t *testing.T) {
		h := fakeHost(t)
		require.NoError(t, os.Symlink("/dev/zero", filepath.Join(h.dev, "uverbs0")))
		requireFault(t, h.closed("rdma0"), syscall.ENXIO, "not the device 1:3", "but 1:5")
	})
	t.Run("no device at all", func(t *testing.T) {
		h := fakeHost(t)
		put(t, filepath.Join(h.dev, "uverbs0"), "")
		requireFault(t, h.closed("rdma0"), syscall.ENXIO, "no character device")
	})
	t.Run("nothing in the kernel to open", func(t *testing.T) {
		h := fakeHost(t)
		requireFault(t, h.closed("rdma1"), syscall.ENODEV, "the kernel has rdma1", "modprobe ib_uverbs")
		require.Empty(t, host{sys: "/nowhere"}.devices())
	})
	t.Run("not by everybody", func(t *testing.T) {
		h := fakeHost(t)
		require.NoError(t, os.Symlink("/dev/null", filepath.Join(h.dev, "uverbs0")))
		require.NoError(t, os.Chmod(h.dev, 0))
		defer func() { require.NoError(t, os.Chmod(h.dev, 0o755)) }()
		asNobody(t, func() {
			requireFault(t, h.closed("rdma0"), syscall.EACCES, "may not open "+h.dev+"/uverbs0", "look into its folder")
		})
	})
}

// asNobody does something without root's right to open every file.
func asNobody(t *testing.T, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	const nobody = 65534
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	require.NoError(t, unix.Setfsuid(nobody)) // of this thread alone
	defer func() { require.NoError(t, unix.Setfsuid(0)) }()
	do()
}

func TestProviders(t *testing.T) {
	h := fakeHost(t)
	require.NoError(t, os.Symlink("/dev/null", filepath.Join(h.dev, "uverbs0")))
	f := h.unlisted("rdma0")
	require.Equal(t, syscall.ENODEV, f.errno)
	require.Contains(t, f.text, "no provider for it ("+h.drivers+" names none); install")

	put(t, filepath.Join(h.drivers, "rxe.driver"), "driver rxe\n")
	put(t, filepath.Join(h.drivers, "mlx5.driver"), "driver mlx5\n")
	put(t, filepath.Join(h.drivers, "README"), "to be ignored\n")
	require.Equal(t, " ("+h.drivers+" names mlx5, rxe)", h.providers(), "where their libraries are is not known")

	libraries := filepath.Join(filepath.Dir(h.sys), "lib")
	put(t, filepath.Join(libraries, "libibverbs", "librxe-rdmav34.so"), "")
	put(t, h.maps, "7f0000000000-7f0000001000 r--p 00000000 00:00 0\n"+
		"7f0000001000-7f0000002000 r-xp 00000000 08:01 77                         "+libraries+"/libibverbs.so.1.14.44.0\n")
	require.Equal(t, " ("+h.drivers+" names rxe; "+libraries+"/libibverbs is without the libraries of mlx5)", h.providers())
	require.NoError(t, os.RemoveAll(libraries))
	require.Contains(t, h.providers(), "names none that is there; "+libraries+"/libibverbs is without the libraries of mlx5, rxe")
}

// A process without file descriptors is told so, by whatever looks for devices.
func TestExhausted(t *testing.T) {
	require.Nil(t, exhausted())
	var before unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &before))
	limit := before
	limit.Cur = 3 // there are as many already
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	f := exhausted()
	_, opened := Open("")
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &before))
	require.NotNil(t, f)
	require.Equal(t, syscall.EMFILE, f.errno)
	require.Contains(t, f.text, "its 3 file descriptors")
	require.ErrorIs(t, opened, syscall.EMFILE)
	require.Nil(t, exhausted())
}
