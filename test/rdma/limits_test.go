//go:build device && linux

package rdma

import (
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Whoever may lock 64 KiB of memory, as most users may, can register no more, and is
// told so.
func TestLockedMemoryLimit(t *testing.T) {
	const limit = 64 << 10
	if !child(t, func() { limitLocked(t, limit) }, unix.CAP_IPC_LOCK) {
		return
	}
	r := newRig(t)
	half, err := r.pd.AllocRegion(limit/2, rdma.RegionOptions{})
	require.NoError(t, err)
	for name, register := range map[string]func() (*rdma.Region, error){
		"owned":      func() (*rdma.Region, error) { return r.pd.AllocRegion(limit, rdma.RegionOptions{}) },
		"registered": func() (*rdma.Region, error) { return r.pd.Register(make([]byte, limit), access) },
	} {
		_, err = register()
		require.ErrorIs(t, err, syscall.ENOMEM, name)
		require.ErrorContains(t, err, "raise the limit of locked memory, which is 64 KiB (ulimit -l)", name)
	}
	require.NoError(t, half.Close())
	for range 100 { // what is closed does not count
		whole, err := r.pd.AllocRegion(limit, rdma.RegionOptions{})
		require.NoError(t, err)
		require.NoError(t, whole.Close())
	}
}

// nodes are the files that programs use devices by.
const nodes = "/dev/infiniband"

// A container without the device's file is told what it lacks.
func TestMissingNode(t *testing.T) {
	if !child(t, func() {}) {
		return
	}
	runtime.LockOSThread() // which the mounts are for
	require.NoError(t, unix.Unshare(unix.CLONE_FS|unix.CLONE_NEWNS))
	require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
	require.NoError(t, unix.Mount("none", nodes, "tmpfs", 0, ""))
	for _, name := range []string{deviceName, ""} {
		_, err := rdma.Open(name, rdma.DeviceOptions{})
		require.ErrorIs(t, err, syscall.ENOENT)
		require.ErrorContains(t, err, "the kernel has "+deviceName+", but "+nodes+"/uverbs")
		require.ErrorContains(t, err, "a container is given it with --device "+nodes+"/uverbs")
	}
}

// Whoever may not use the device's file is told by whom it is owned.
func TestUnreadableNode(t *testing.T) {
	files, err := filepath.Glob(nodes + "/uverbs*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	closeNodes := func() {
		for _, file := range files {
			info, err := os.Stat(file)
			require.NoError(t, err)
			require.NoError(t, os.Chmod(file, 0))
			t.Cleanup(func() { require.NoError(t, os.Chmod(file, info.Mode().Perm())) })
		}
	}
	if !child(t, closeNodes, unix.CAP_DAC_OVERRIDE, unix.CAP_DAC_READ_SEARCH) {
		return
	}
	for _, name := range []string{deviceName, ""} {
		_, err := rdma.Open(name, rdma.DeviceOptions{})
		require.ErrorIs(t, err, syscall.EACCES)
		require.ErrorContains(t, err, "user 0 may not open "+nodes+"/uverbs")
		require.ErrorContains(t, err, "(0000, of user 0 and group 0)")
	}
}

// Memory that the process does not have, or may not write, is refused.
func TestBadMemory(t *testing.T) {
	r := newRig(t)
	page := os.Getpagesize()
	mapped := func(protection int) []byte {
		memory, err := unix.Mmap(-1, 0, 4*page, protection, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
		require.NoError(t, err)
		return memory
	}
	readOnly := mapped(unix.PROT_READ)
	defer unix.Munmap(readOnly)
	_, err := r.pd.Register(readOnly, access)
	require.ErrorIs(t, err, syscall.EFAULT)
	require.ErrorContains(t, err, "the memory is not mapped, or not writable though the access flags ask for it")
	region, err := r.pd.Register(readOnly, 0)
	require.NoError(t, err, "the device does not write to it")
	require.NoError(t, region.Close())

	freed := mapped(unix.PROT_READ | unix.PROT_WRITE)
	gone := freed
	require.NoError(t, unix.Munmap(freed))
	_, err = r.pd.Register(gone, ibv.AccessLocalWrite)
	require.ErrorIs(t, err, syscall.EFAULT)

	_, err = r.pd.AllocRegion(1<<40, rdma.RegionOptions{})
	require.ErrorIs(t, err, syscall.ENOMEM, "it is more than there is")
	require.NoError(t, r.pd.Close(), "nothing is left of what was refused")
}
