package rdma

import (
	"errors"
	"math"
	"os"
	"strings"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/system"
)

// mapMemory gets memory from the kernel, and the function that gives it back.
func mapMemory(size int, opts RegionOptions) (memory []byte, unmap func() error, failure *memoryFailure) {
	failure = &memoryFailure{syscall.EOPNOTSUPP, "the kernel has no huge pages"}
	for _, kind := range pageKinds(size, opts) {
		var m mapping
		if m, failure = mapPages(size, kind, opts); failure == nil {
			// Safe: size bytes are mapped at that address, outside of the Go heap.
			return unsafe.Slice((*byte)(m.start), size), m.unmap, nil
		}
		if failure.errno != syscall.ENOMEM && failure.errno != syscall.EOPNOTSUPP {
			break // no other pages would help
		}
	}
	return nil, nil, failure
}

// mapping is memory of the kernel's, of whole pages.
type mapping struct {
	start  unsafe.Pointer
	length uintptr
	huge   HugePages // what it consists of, if it is of a pool
}

func (m mapping) unmap() error { return system.Unmap(m.start, m.length) }

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
		return mapping{}, noMemory(syscall.ENOMEM)
	}
	m, err := mapAnonymous(uintptr(length+align-page), 0)
	if err != nil {
		return mapping{}, noMemory(err)
	}
	// What is around the aligned part goes back at once. Safe: all of it is mapped.
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
		_ = madvise(m, syscall.MADV_HUGEPAGE)
	}
	return m, failure
}

// mapAnonymous maps memory that is private to the process and zero.
func mapAnonymous(length uintptr, flags int) (mapping, error) {
	start, err := system.Map(length, flags)
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
		if err := madvise(m, syscall.MADV_DONTFORK); err != nil {
			return &memoryFailure{mapErrno(err), "the kernel does not keep the memory from forked processes"}
		}
	}
	return nil
}

// madvise is syscall.Madvise, which wants a slice.
func madvise(m mapping, advice int) error {
	// Safe: it is all that is mapped there.
	return syscall.Madvise(unsafe.Slice((*byte)(m.start), m.length), advice)
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
