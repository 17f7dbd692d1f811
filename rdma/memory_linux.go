package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mapMemory gets memory from the kernel, and the function that gives it back.
func mapMemory(size int, opts RegionOptions) (memory []byte, unmap func() error, failure *memoryFailure) {
	failure = &memoryFailure{unix.EOPNOTSUPP, "the kernel has no huge pages"}
	for _, kind := range pageKinds(size, opts) {
		var m mapping
		if m, failure = mapPages(size, kind, opts); failure == nil {
			// Safe: size bytes are mapped at that address, outside of the Go heap.
			return unsafe.Slice((*byte)(m.start), size), m.unmap, nil
		}
		if failure.errno != unix.ENOMEM && failure.errno != unix.EOPNOTSUPP {
			break // no other pages would help
		}
	}
	return nil, nil, failure
}

// pageKinds are the kinds of pages to try, one after the other.
func pageKinds(size int, opts RegionOptions) []HugePages {
	kinds := []HugePages{opts.HugePages}
	switch opts.HugePages {
	case HugePagesNone, HugePagesTransparent:
		return kinds
	case HugePagesAny:
		kinds = hugePagesFor(size)
	}
	if opts.HugePagesOptional {
		kinds = append(kinds, HugePagesTransparent)
	}
	return kinds
}

// hugePagesFor are the kinds of huge pages that serve memory of a size: those that
// are no larger, the largest first, and the smallest in any case.
func hugePagesFor(size int) []HugePages {
	kinds := hugePages()
	for len(kinds) > 1 && uint64(kinds[0]) > uint64(size) {
		kinds = kinds[1:]
	}
	return kinds
}

// hugePages are the kinds that the kernel has pools for, the largest first.
func hugePages() []HugePages {
	var kinds []HugePages
	entries, _ := os.ReadDir(pools) // none, without huge pages
	for _, e := range entries {
		var kib uint64
		if _, err := fmt.Sscanf(e.Name(), "hugepages-%dkB", &kib); err == nil {
			kinds = append(kinds, HugePages(kib<<10))
		}
	}
	slices.Sort(kinds)
	slices.Reverse(kinds)
	return kinds
}

const pools = "/sys/kernel/mm/hugepages"

// mapping is memory of the kernel's, of whole pages.
type mapping struct {
	start  unsafe.Pointer
	length uintptr
	huge   HugePages // what it consists of, if it is of a pool
}

func (m mapping) unmap() error { return unix.MunmapPtr(m.start, m.length) }

// mapPages maps pages of a kind, in the way that is asked for.
func mapPages(size int, kind HugePages, opts RegionOptions) (m mapping, failure *memoryFailure) {
	switch kind {
	case HugePagesNone:
		m, failure = mapSmall(size, os.Getpagesize())
	case HugePagesTransparent:
		m, failure = mapTransparent(size)
	default:
		m, failure = mapPool(size, kind)
	}
	if failure == nil {
		if failure = m.prepare(opts); failure != nil {
			m.unmap() // the failure says more
		}
	}
	return m, failure
}

// mapSmall maps small pages whose address is a multiple of align.
func mapSmall(size, align int) (mapping, *memoryFailure) {
	page := os.Getpagesize()
	length, ok := roundUp(size, page)
	if !ok || length > math.MaxInt-align {
		return mapping{}, noMemory(unix.ENOMEM)
	}
	m, err := mapAnonymous(uintptr(length+align-page), 0)
	if err != nil {
		return mapping{}, noMemory(err)
	}
	// What is around the aligned part goes back at once.
	before := mapping{start: m.start, length: -uintptr(m.start) % uintptr(align)}
	if before.length > 0 {
		err = before.unmap()
	}
	if err == nil {
		m = mapping{start: unsafe.Add(m.start, before.length), length: m.length - before.length}
		after := mapping{start: unsafe.Add(m.start, length), length: m.length - uintptr(length)}
		if after.length > 0 {
			err = after.unmap()
		}
	}
	if err != nil { // the kernel has no room for more mappings, and this is still one
		m.unmap()
		return mapping{}, noMemory(err)
	}
	m.length = uintptr(length)
	return m, nil
}

// mapTransparent maps memory for which the kernel takes huge pages as it has them.
func mapTransparent(size int) (mapping, *memoryFailure) {
	huge := transparentSize()
	if size < huge {
		huge = os.Getpagesize()
	}
	m, failure := mapSmall(size, huge)
	if failure == nil {
		// It is a wish: a kernel without such pages has small ones.
		_ = madvise(m, unix.MADV_HUGEPAGE)
	}
	return m, failure
}

// transparentSize is the size of transparent huge pages.
func transparentSize() int {
	var size int
	if _, err := fmt.Sscan(readSys("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size"), &size); err != nil || size <= 0 || size&(size-1) != 0 {
		return os.Getpagesize()
	}
	return size
}

// mapPool maps huge pages of one kind.
func mapPool(size int, kind HugePages) (mapping, *memoryFailure) {
	if kind&(kind-1) != 0 || kind > math.MaxInt {
		return mapping{}, &memoryFailure{unix.EINVAL, fmt.Sprintf("huge pages of %v: the size of pages is a power of two", kind)}
	}
	length, ok := roundUp(size, int(kind))
	if !ok {
		return mapping{}, noMemory(unix.ENOMEM)
	}
	log := 0
	for kind>>log != 1 {
		log++
	}
	m, err := mapAnonymous(uintptr(length), unix.MAP_HUGETLB|log<<unix.MAP_HUGE_SHIFT)
	m.huge = kind
	switch {
	case err == nil:
		return m, nil
	case !slices.Contains(hugePages(), kind):
		return mapping{}, &memoryFailure{unix.EOPNOTSUPP, fmt.Sprintf("the kernel has no huge pages of %v, only: %v; set HugePagesOptional to do without", kind, hugePages())}
	case err == unix.ENOMEM:
		return mapping{}, &memoryFailure{unix.ENOMEM, emptyPool(kind, length/int(kind), poolOf(kind))}
	}
	return mapping{}, noMemory(err)
}

// poolOf is the folder about the pool of a kind of huge pages.
func poolOf(kind HugePages) string {
	return filepath.Join(pools, fmt.Sprintf("hugepages-%dkB", kind>>10))
}

// emptyPool says what to do about a pool without enough pages.
func emptyPool(kind HugePages, needed int, pool string) string {
	return fmt.Sprintf("it takes %d huge pages of %v, of which %s are free: have an administrator write a larger number to %s, or to /proc/sys/vm/nr_hugepages for the kind that is the machine's default; or set HugePagesOptional to do without",
		needed, kind, readSys(filepath.Join(pool, "free_hugepages")), filepath.Join(pool, "nr_hugepages"))
}

// mapAnonymous maps memory that is private to the process and zero.
func mapAnonymous(length uintptr, flags int) (mapping, error) {
	start, err := unix.MmapPtr(-1, 0, nil, length, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS|flags)
	return mapping{start: start, length: length}, err
}

// prepare does the rest of what is asked for, before anything touches the memory.
func (m mapping) prepare(opts RegionOptions) *memoryFailure {
	if opts.NUMANode != AnyNode {
		if failure := m.bind(int(opts.NUMANode) - 1); failure != nil {
			return failure
		}
	}
	if opts.DontFork {
		if err := madvise(m, unix.MADV_DONTFORK); err != nil {
			return &memoryFailure{mapErrno(err), "the kernel does not keep the memory from forked processes"}
		}
	}
	return nil
}

// bind has the memory come from a node.
func (m mapping) bind(node int) *memoryFailure {
	var nodes [16]uint64 // 1024, as many as any kernel has
	if node < 0 || node >= len(nodes)*64 {
		return noNode(unix.EINVAL, node)
	}
	nodes[node/64] |= 1 << (node % 64)
	// Safe: the kernel reads the nodes during the call, and changes no memory. It takes
	// one off the number of nodes.
	_, _, errno := unix.Syscall6(unix.SYS_MBIND, uintptr(m.start), m.length, unix.MPOL_BIND,
		uintptr(unsafe.Pointer(&nodes)), uintptr(len(nodes)*64+1), 0)
	switch {
	case errno == 0:
		return m.populate(node)
	case errno == unix.ENOSYS && node == 0:
		return nil // a kernel that knows nothing of nodes is on the only one
	case errno == unix.EPERM:
		return &memoryFailure{errno, "this process may not choose NUMA nodes: a container is allowed to with --cap-add SYS_NICE"}
	}
	return noNode(errno, node)
}

func noNode(errno unix.Errno, node int) *memoryFailure {
	nodes := cmp.Or(readSys("/sys/devices/system/node/has_memory"), "not known to the kernel")
	return &memoryFailure{errno, fmt.Sprintf("this process cannot have memory of NUMA node %d: the nodes with memory are %s", node, nodes)}
}

// populate takes huge pages off the node's pool at once: a node without enough of
// them would be noticed at the first touch otherwise, which would end the process.
func (m mapping) populate(node int) *memoryFailure {
	if m.huge == HugePagesNone {
		return nil
	}
	pool := fmt.Sprintf("/sys/devices/system/node/node%d/hugepages/hugepages-%dkB", node, m.huge>>10)
	hint := emptyPool(m.huge, int(m.length/uintptr(m.huge)), pool) // while none is taken
	switch err := madvise(m, unix.MADV_POPULATE_WRITE); err {
	case nil, unix.EINVAL: // a kernel before 5.14 does it when the memory is registered
		return nil
	}
	return &memoryFailure{unix.ENOMEM, hint}
}

// madvise is unix.Madvise, which wants a slice.
func madvise(m mapping, advice int) error {
	// Safe: it is all that is mapped there.
	return unix.Madvise(unsafe.Slice((*byte)(m.start), m.length), advice)
}

// NUMANode is the number of the NUMA node that the device is attached to. It is
// attached to none if the machine has one only, or if there is no hardware.
func (d *Device) NUMANode() (number int, ok bool) {
	_, err := fmt.Sscan(readSys(filepath.Join("/sys/class/infiniband", d.Name(), "device/numa_node")), &number)
	return number, err == nil && number >= 0
}

// readSys is what a file of the kernel's says, or "".
func readSys(file string) string {
	text, _ := os.ReadFile(file) // "" is what there is to say
	return strings.TrimSpace(string(text))
}

// roundUp is size as a whole number of pages, if there is such a number.
func roundUp(size, page int) (int, bool) {
	if size > math.MaxInt-page+1 {
		return 0, false
	}
	return (size + page - 1) &^ (page - 1), true
}

// noMemory is the failure of getting pages of the usual kind.
func noMemory(err error) *memoryFailure {
	return &memoryFailure{mapErrno(err), "the machine has not that much memory, or the process may not have it (ulimit -v)"}
}

// mapErrno is the errno that an error of the kernel's is.
func mapErrno(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}
