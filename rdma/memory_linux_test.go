package rdma

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// testMap maps memory for as long as the test runs.
func testMap(t *testing.T, size int, opts RegionOptions) []byte {
	t.Helper()
	memory, unmap, failure := mapMemory(size, opts)
	require.Nil(t, failure)
	t.Cleanup(func() { require.NoError(t, unmap()) })
	require.Len(t, memory, size)
	require.Equal(t, size, cap(memory))
	return memory
}

// smap is what the kernel says of the mapping that memory is in, by the words at
// the starts of lines.
func smap(t *testing.T, memory []byte) map[string]string {
	t.Helper()
	file, err := os.Open("/proc/self/smaps")
	require.NoError(t, err)
	defer file.Close()
	address := uintptr(unsafe.Pointer(unsafe.SliceData(memory)))
	said, within := map[string]string{}, false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var start, end uintptr
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x ", &start, &end); err == nil {
			within = start <= address && address < end
		} else if key, value, ok := strings.Cut(lines.Text(), ":"); ok && within {
			said[key] = strings.TrimSpace(value)
		}
	}
	return said
}

func TestMapMemory(t *testing.T) {
	page := os.Getpagesize()
	for _, size := range []int{1, page - 1, page, page + 1, 5<<20 + 1} {
		for _, pages := range []HugePages{HugePagesNone, HugePagesTransparent} {
			memory, unmap, failure := mapMemory(size, RegionOptions{HugePages: pages})
			require.Nil(t, failure)
			require.Len(t, memory, size)
			require.Equal(t, size, cap(memory))
			start := uintptr(unsafe.Pointer(&memory[0]))
			require.Zero(t, start%uintptr(page))
			for i := range memory {
				if memory[i] != 0 {
					t.Fatalf("byte %d is %d", i, memory[i])
				}
				memory[i] = 1
			}
			require.NoError(t, unmap())
			require.Equal(t, unix.ENOMEM, mincore(start), "it is still mapped")
			require.Equal(t, unix.ENOMEM, mincore((start+uintptr(size)-1)&^uintptr(page-1)), "its end is still mapped")
		}
	}
}

// mincore is ENOMEM for a page that is not mapped, and 0 otherwise.
func mincore(address uintptr) unix.Errno {
	var state byte
	_, _, errno := unix.Syscall(unix.SYS_MINCORE, address, 1, uintptr(unsafe.Pointer(&state)))
	return errno
}

func TestMapMemoryOfAbsurdSize(t *testing.T) {
	for _, pages := range []HugePages{HugePagesNone, HugePagesTransparent, HugePages2M, HugePagesAny} {
		for _, size := range []int{1 << 60, math.MaxInt - 1<<20, math.MaxInt} {
			_, _, failure := mapMemory(size, RegionOptions{HugePages: pages, HugePagesOptional: true})
			require.NotNil(t, failure)
			require.Equal(t, unix.ENOMEM, failure.errno)
			require.Contains(t, failure.hint, "ulimit -v")
		}
	}
}

// Memory for transparent huge pages starts where one can, and gets them if the
// kernel has any.
func TestTransparentHugePages(t *testing.T) {
	huge := transparentSize()
	memory := testMap(t, 3*huge+1, RegionOptions{HugePages: HugePagesTransparent})
	require.Zero(t, uintptr(unsafe.Pointer(&memory[0]))%uintptr(huge))
	state := readSys("/sys/kernel/mm/transparent_hugepage/enabled")
	asked := strings.Contains(smap(t, memory)["VmFlags"], "hg")
	require.Equal(t, state != "", asked, "transparent huge pages here: %q", state)
}

// A pool without pages is told from a kernel without such pages, and both say what
// to do.
func TestNoHugePages(t *testing.T) {
	kinds := hugePages()
	for _, kind := range kinds {
		_, _, failure := mapMemory(1<<50, RegionOptions{HugePages: kind})
		require.NotNil(t, failure)
		require.Equal(t, unix.ENOMEM, failure.errno)
		require.Contains(t, failure.hint, fmt.Sprintf("it takes %d huge pages of %v, of which", uint64(1<<50/kind), kind))
		require.Contains(t, failure.hint, fmt.Sprintf("/hugepages-%dkB/nr_hugepages", kind>>10))
		require.Contains(t, failure.hint, "/proc/sys/vm/nr_hugepages")
		require.Contains(t, failure.hint, "HugePagesOptional")
	}
	_, _, failure := mapMemory(1<<50, RegionOptions{HugePages: HugePagesAny})
	require.NotNil(t, failure)
	if len(kinds) == 0 {
		require.Equal(t, unix.EOPNOTSUPP, failure.errno)
	} else {
		require.Equal(t, unix.ENOMEM, failure.errno)
	}
	_, _, failure = mapMemory(1, RegionOptions{HugePages: 8 << 10})
	require.NotNil(t, failure)
	require.Equal(t, unix.EOPNOTSUPP, failure.errno)
	require.Contains(t, failure.hint, "no huge pages of 8 KiB")
	_, _, failure = mapMemory(1, RegionOptions{HugePages: 3 << 20, HugePagesOptional: true})
	require.NotNil(t, failure)
	require.Equal(t, unix.EINVAL, failure.errno)
	require.Contains(t, failure.hint, "3 MiB: the size of pages is a power of two")

	// With the option, small pages do.
	testMap(t, 100, RegionOptions{HugePages: 8 << 10, HugePagesOptional: true})[99] = 1
	testMap(t, 1<<30, RegionOptions{HugePages: HugePagesAny, HugePagesOptional: true})[1<<30-1] = 1
}

func TestHugePagesFor(t *testing.T) {
	kinds := hugePages()
	if len(kinds) == 0 {
		require.Empty(t, hugePagesFor(1))
		return
	}
	smallest := kinds[len(kinds)-1]
	require.Equal(t, []HugePages{smallest}, hugePagesFor(1))
	require.Equal(t, []HugePages{smallest}, hugePagesFor(int(smallest)))
	require.Equal(t, kinds, hugePagesFor(math.MaxInt))
}

// Pages are on the node that is asked for.
func TestNUMANode(t *testing.T) {
	memory := testMap(t, 1<<20, RegionOptions{NUMANode: OnNode(0)})
	for i := range memory {
		memory[i] = 1
	}
	requireNode(t, memory, 0)
	if state := smap(t, memory); readSys("/sys/devices/system/node/online") != "" {
		require.NotEmpty(t, state)
		policy, node := policyOf(t, memory)
		require.Equal(t, unix.MPOL_BIND, policy)
		require.Equal(t, uint64(1), node)
	}
	for _, node := range []int{999, 1024, math.MaxInt, math.MaxInt - 1} {
		_, _, failure := mapMemory(1, RegionOptions{NUMANode: OnNode(node)})
		require.NotNil(t, failure)
		require.Contains(t, failure.hint, "nodes with memory are")
	}
	require.Equal(t, AnyNode, OnNode(-1))
	require.Equal(t, AnyNode, OnNode(math.MinInt))
	require.Equal(t, "any device 0 7", fmt.Sprint(AnyNode, DeviceNode, OnNode(0), OnNode(7)))
}

// policyOf is the NUMA policy of memory: its mode, and its nodes up to 63.
func policyOf(t *testing.T, memory []byte) (mode int, nodes uint64) {
	t.Helper()
	var m int32
	var n [16]uint64
	_, _, errno := unix.Syscall6(unix.SYS_GET_MEMPOLICY, uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&n)), 1024,
		uintptr(unsafe.Pointer(&memory[0])), unix.MPOL_F_ADDR, 0)
	require.Zero(t, errno)
	return int(m), n[0]
}

// requireNode requires that all pages of memory are there and on a node. A kernel
// that knows nothing of nodes has all on node 0.
func requireNode(t *testing.T, memory []byte, node int32) {
	t.Helper()
	page := os.Getpagesize()
	pages := make([]uintptr, len(memory)/page)
	status := make([]int32, len(pages))
	for i := range pages {
		pages[i] = uintptr(unsafe.Pointer(&memory[i*page]))
	}
	_, _, errno := unix.Syscall6(unix.SYS_MOVE_PAGES, 0, uintptr(len(pages)), uintptr(unsafe.Pointer(&pages[0])), 0,
		uintptr(unsafe.Pointer(&status[0])), 0)
	if errno == unix.ENOSYS {
		require.Zero(t, node)
		return
	}
	require.Zero(t, errno)
	for i, got := range status {
		require.Equal(t, node, got, "page %d (a negative number is an errno)", i)
	}
}

func TestDontFork(t *testing.T) {
	require.NotContains(t, strings.Fields(smap(t, testMap(t, 100, RegionOptions{}))["VmFlags"]), "dc")
	require.Contains(t, strings.Fields(smap(t, testMap(t, 100, RegionOptions{DontFork: true}))["VmFlags"]), "dc")
}

func TestHugePagesText(t *testing.T) {
	require.Equal(t, "none transparent any 2 MiB 1 GiB 64 KiB 16 GiB 1000 bytes",
		fmt.Sprint(HugePagesNone, HugePagesTransparent, HugePagesAny, HugePages2M, HugePages1G, HugePages(64<<10), HugePages(16<<30), HugePages(1000)))
}
