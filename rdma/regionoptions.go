package rdma

import (
	"fmt"
	"math"

	"github.com/goverbs/goverbs/ibv"
)

// RegionOptions are what memory a region has and what may be done with it. The zero
// value is what most programs want. What the system does not have is an error,
// errors.ErrUnsupported by errors.Is; all but Access is for Linux.
type RegionOptions struct {
	// Access is what the device and peers may do with the memory, or 0 for
	// ibv.AccessLocalWrite: what receives and sends need.
	Access ibv.AccessFlags
	// HugePages is the kind of pages that the memory consists of.
	HugePages HugePages
	// HugePagesOptional takes transparent huge pages, or small pages, where there are
	// none of the kind. Without it, that is an error.
	HugePagesOptional bool
	// NUMANode is where the memory is.
	NUMANode NUMANode
	// DontFork keeps the memory out of processes that are forked, in which C does
	// that: its pages are not shared with them, and so do not move when the program
	// writes to them. Package os/exec and kernels from 5.12 on do not need it.
	DontFork bool
}

// HugePages is the kind of pages that memory consists of: one of these constants,
// or the size in bytes of another kind of huge pages that the kernel has.
type HugePages uint64

const (
	// HugePagesNone is the system's small pages.
	HugePagesNone HugePages = 0
	// HugePagesTransparent asks the kernel for huge pages where it has them at hand,
	// and takes small ones elsewhere. They need no pool.
	HugePagesTransparent HugePages = 1
	// HugePagesAny takes what pool has enough: of the largest pages that the memory
	// fills, or else of smaller ones.
	HugePagesAny HugePages = math.MaxUint64
	// HugePages2M and HugePages1G come from the kernel's pools, where an administrator
	// has put them.
	HugePages2M HugePages = 2 << 20
	HugePages1G HugePages = 1 << 30
)

// String is none, transparent, any, or a size such as 2 MiB.
func (h HugePages) String() string {
	switch h {
	case HugePagesNone:
		return "none"
	case HugePagesTransparent:
		return "transparent"
	case HugePagesAny:
		return "any"
	}
	n, unit := uint64(h), 0
	for unit < len(units)-1 && n%1024 == 0 {
		n, unit = n/1024, unit+1
	}
	return fmt.Sprintf("%d %s", n, units[unit])
}

var units = []string{"bytes", "KiB", "MiB", "GiB"}

// NUMANode is the NUMA node whose memory is wanted: [OnNode]'s, or one of the
// constants.
type NUMANode int

const (
	// AnyNode leaves it to the kernel, which prefers the node of the processor that
	// first touches the memory.
	AnyNode NUMANode = 0
	// DeviceNode is the node that the device is attached to. Where it is attached to
	// none, as on a machine with one, it is AnyNode.
	DeviceNode NUMANode = -1
)

// OnNode is the node with a number from 0. A negative number is that of no node,
// as Linux has it, and so is AnyNode.
func OnNode(number int) NUMANode {
	return NUMANode(max(min(number, math.MaxInt-1), -1) + 1)
}

// String is any, device, or the node's number.
func (n NUMANode) String() string {
	switch n {
	case AnyNode:
		return "any"
	case DeviceNode:
		return "device"
	}
	return fmt.Sprint(int(n) - 1)
}
