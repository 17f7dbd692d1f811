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
		library: func() string { return filepath.Join(root, "libibverbs.so.1") },
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
	root := filepath.Dir(h.library())
	names, libraries := filepath.Join(root, "etc", "libibverbs.d"), filepath.Join(root, "lib", "libibverbs")
	put(t, h.library(), "\x7fELF\x00lib%s-rdmav34.so\x00"+names+"\x00IBV_DRIVERS\x00")
	f := h.unlisted("rdma0")
	require.Equal(t, syscall.ENODEV, f.errno)
	require.Contains(t, f.text, "no provider for it ("+names+" names none); install")

	put(t, filepath.Join(names, "rxe.driver"), "driver rxe\n")
	put(t, filepath.Join(names, "mlx5.driver"), "driver mlx5\n")
	put(t, filepath.Join(names, "README"), "to be ignored\n")
	require.Equal(t, " ("+names+" names mlx5, rxe)", h.providers(), "where their libraries are is not known")

	put(t, filepath.Join(libraries, "librxe-rdmav34.so"), "")
	put(t, h.library(), names+"\x00"+libraries+"/lib%s-rdmav34.so\x00")
	require.Equal(t, " ("+names+" names rxe; "+libraries+" is without the libraries of mlx5)", h.providers())
	put(t, filepath.Join(names, "other.driver"), "driver "+root+"/libother\n")
	put(t, filepath.Join(root, "libother-rdmav34.so"), "")
	require.Equal(t, " ("+names+" names "+root+"/libother, rxe; "+libraries+" is without the libraries of mlx5)", h.providers())
	require.NoError(t, os.RemoveAll(libraries))
	require.NoError(t, os.Remove(filepath.Join(names, "other.driver")))
	require.Contains(t, h.providers(), "names none that is there; "+libraries+" is without the libraries of mlx5, rxe")

	names, libraries = providerPlaces("/nowhere/libibverbs.so.1")
	require.Equal(t, "/etc/libibverbs.d", names)
	require.Empty(t, libraries)
	names, libraries = providerPlaces(thisHost.library())
	require.Equal(t, "libibverbs.d", filepath.Base(names), "of this machine's")
	require.DirExists(t, libraries)
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
