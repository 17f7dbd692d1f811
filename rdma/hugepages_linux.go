package rdma

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

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
		return mapping{}, &memoryFailure{syscall.EINVAL, fmt.Sprintf("huge pages of %v: the size of pages is a power of two", kind)}
	}
	length, ok := roundUp(size, int(kind))
	if !ok {
		return mapping{}, noMemory(syscall.ENOMEM)
	}
	log := 0
	for kind>>log != 1 {
		log++
	}
	m, err := mapAnonymous(uintptr(length), syscall.MAP_HUGETLB|log<<system.MapHugeShift)
	m.huge = kind
	switch {
	case err == nil:
		return m, nil
	case !slices.Contains(hugePages(), kind):
		return mapping{}, &memoryFailure{syscall.EOPNOTSUPP, fmt.Sprintf("the kernel has no huge pages of %v, only: %v; set HugePagesOptional to do without", kind, hugePages())}
	case err == syscall.ENOMEM:
		return mapping{}, &memoryFailure{syscall.ENOMEM, emptyPool(kind, length/int(kind), poolOf(kind))}
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
