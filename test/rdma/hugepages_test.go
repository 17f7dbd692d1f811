//go:build device && linux

package rdma

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/rdma"
)

const pool = "/sys/kernel/mm/hugepages/hugepages-2048kB/"

// The device uses huge pages of the kernel's pool, which has them back afterwards.
func TestHugePages(t *testing.T) {
	l := newRig(t).loop(4)
	before, err := os.ReadFile(pool + "nr_hugepages")
	if errors.Is(err, os.ErrNotExist) { // as in User Mode Linux
		for _, kind := range []rdma.HugePages{rdma.HugePages2M, rdma.HugePagesAny} {
			_, err := l.pd.AllocRegion(1<<20, rdma.RegionOptions{HugePages: kind})
			require.ErrorIs(t, err, errors.ErrUnsupported)
			require.ErrorContains(t, err, "the kernel has no huge pages")
			l.requireHugePages(rdma.RegionOptions{HugePages: kind, HugePagesOptional: true}, 0)
		}
		return
	}
	require.NoError(t, err)
	setPool := func(pages string) { require.NoError(t, os.WriteFile(pool+"nr_hugepages", []byte(pages), 0)) }
	defer setPool(string(before))

	setPool("0")
	for _, kind := range []rdma.HugePages{rdma.HugePages2M, rdma.HugePagesAny} {
		_, err = l.pd.AllocRegion(5<<20, rdma.RegionOptions{HugePages: kind})
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.ErrorContains(t, err, "it takes 3 huge pages of 2 MiB, of which 0 are free")
		require.ErrorContains(t, err, pool+"nr_hugepages, or to /proc/sys/vm/nr_hugepages")
		l.requireHugePages(rdma.RegionOptions{HugePages: kind, HugePagesOptional: true}, 0)
	}
	setPool("4")
	require.Equal(t, 4, freePages(t), "this test needs memory that is not in pieces")
	l.requireHugePages(rdma.RegionOptions{HugePages: rdma.HugePages2M}, 3)
	l.requireHugePages(rdma.RegionOptions{HugePages: rdma.HugePagesAny, DontFork: true}, 3)
	_, err = l.pd.AllocRegion(9<<20, rdma.RegionOptions{HugePages: rdma.HugePages2M})
	require.ErrorContains(t, err, "it takes 5 huge pages of 2 MiB, of which 4 are free")
}

// Huge pages come from the node that is asked for, and one that has too few of them is
// told before anything touches the memory, which would end the process.
func TestHugePagesOfNode(t *testing.T) {
	const nodePool = "/sys/devices/system/node/node%d/hugepages/hugepages-2048kB/nr_hugepages"
	if _, err := os.Stat(fmt.Sprintf(nodePool, 1)); err != nil {
		t.Skipf("there is one node, or none with huge pages: %v", err)
	}
	l := newRig(t).loop(4)
	for node, pages := range []string{"4", "2"} {
		file := fmt.Sprintf(nodePool, node)
		before, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(file, []byte(pages), 0))
		defer func() { require.NoError(t, os.WriteFile(file, before, 0)) }()
	}
	on := func(node int, optional bool) (*rdma.Region, error) {
		return l.pd.AllocRegion(5<<20, rdma.RegionOptions{HugePages: rdma.HugePages2M, HugePagesOptional: optional, NUMANode: rdma.OnNode(node), Access: access})
	}
	_, err := on(1, false)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorContains(t, err, "it takes 3 huge pages of 2 MiB, of which 2 are free")
	require.ErrorContains(t, err, fmt.Sprintf(nodePool, 1))
	for node, optional := range []bool{false, true} {
		region, err := on(node, optional)
		require.NoError(t, err)
		l.requireCopied(region)
		requireOnNode(t, region.Bytes(), node)
		require.NoError(t, region.Close())
	}
}

// requireHugePages requires that 5 MiB of memory, which the device uses, are so many
// huge pages.
func (l *loop) requireHugePages(opts rdma.RegionOptions, pages int) {
	l.t.Helper()
	free := 0
	if pages > 0 {
		free = freePages(l.t)
	}
	opts.Access = access
	region, err := l.pd.AllocRegion(5<<20, opts)
	require.NoError(l.t, err)
	l.requireCopied(region)
	region.Bytes()[5<<20-1] = 1
	if pages > 0 {
		require.Equal(l.t, free-pages, freePages(l.t))
		require.Equal(l.t, "2048 kB", pageSize(l.t, region.Bytes()))
	}
	require.NoError(l.t, region.Close())
	if pages > 0 {
		require.Equal(l.t, free, freePages(l.t))
	}
}

func freePages(t *testing.T) (n int) {
	t.Helper()
	text, err := os.ReadFile(pool + "free_hugepages")
	require.NoError(t, err)
	_, err = fmt.Sscan(string(text), &n)
	require.NoError(t, err)
	return n
}

// pageSize is the size of the pages that memory consists of, as the kernel says it.
func pageSize(t *testing.T, memory []byte) string {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer file.Close()
	address, within := uintptr(unsafe.Pointer(&memory[0])), false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var start, end uintptr
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &start, &end); err == nil {
			within = start <= address && address < end
		} else if size, ok := strings.CutPrefix(lines.Text(), "KernelPageSize:"); ok && within {
			return strings.TrimSpace(size)
		}
	}
	require.Fail(t, "the memory is not mapped")
	return ""
}

// The device uses memory of each node of the machine, and it is where it should be.
func TestNUMANodes(t *testing.T) {
	l := newRig(t).loop(4)
	nodes := 0
	for ; ; nodes++ {
		if _, err := os.Stat(fmt.Sprintf("/sys/devices/system/node/node%d", nodes)); err != nil {
			break
		}
	}
	t.Logf("%d nodes", nodes)
	for node := range max(nodes, 1) { // a kernel that knows none has memory of node 0
		region, err := l.pd.AllocRegion(1<<20, rdma.RegionOptions{NUMANode: rdma.OnNode(node), Access: access})
		require.NoError(t, err)
		l.requireCopied(region)
		if nodes > 0 {
			requireOnNode(t, region.Bytes(), node)
		}
		require.NoError(t, region.Close())
	}
	_, err := l.pd.AllocRegion(1<<20, rdma.RegionOptions{NUMANode: rdma.OnNode(max(nodes, 1))})
	require.ErrorContains(t, err, fmt.Sprintf("this process cannot have memory of NUMA node %d: the nodes with memory are", max(nodes, 1)))

	// No hardware, no node: the kernel chooses.
	_, attached := l.dev.NUMANode()
	require.False(t, attached)
	region, err := l.pd.AllocRegion(1<<20, rdma.RegionOptions{NUMANode: rdma.DeviceNode})
	require.NoError(t, err)
	require.NoError(t, region.Close())
}

// requireOnNode requires that all pages of memory are on a node.
func requireOnNode(t *testing.T, memory []byte, node int) {
	t.Helper()
	page := os.Getpagesize()
	pages := make([]uintptr, len(memory)/page)
	status := make([]int32, len(pages))
	for i := range pages {
		pages[i] = uintptr(unsafe.Pointer(&memory[i*page]))
	}
	// Without nodes to move to, the kernel says where the pages are.
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)), uintptr(unsafe.Pointer(&pages[0])), 0,
		uintptr(unsafe.Pointer(&status[0])), 0)
	require.Zero(t, errno)
	for i := range status {
		require.Equal(t, int32(node), status[i], "page %d", i)
	}
}
