package rdma

import (
	"cmp"
	"fmt"
	"path/filepath"
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

// NUMANode is the number of the NUMA node that the device is attached to. It is
// attached to none if the machine has one only, or if there is no hardware.
func (d *Device) NUMANode() (number int, ok bool) {
	_, err := fmt.Sscan(readSys(filepath.Join("/sys/class/infiniband", d.Name(), "device/numa_node")), &number)
	return number, err == nil && number >= 0
}

// bind has the memory come from a node.
func (m mapping) bind(node int) *memoryFailure {
	var nodes [16]uint64 // 1024, as many as any kernel has
	if node < 0 || node >= len(nodes)*64 {
		return noNode(syscall.EINVAL, node)
	}
	nodes[node/64] |= 1 << (node % 64)
	switch errno := system.Mbind(m.start, m.length, system.MpolBind, nodes[:]); {
	case errno == 0:
		return m.populate(node)
	case errno == syscall.ENOSYS && node == 0:
		return nil // a kernel that knows nothing of nodes is on the only one
	case errno == syscall.EPERM:
		return &memoryFailure{errno, "this process may not choose NUMA nodes: a container is allowed to with --cap-add SYS_NICE"}
	default:
		return noNode(errno, node)
	}
}

// populate takes huge pages off the node's pool at once: a node without enough of
// them would be noticed at the first touch otherwise, which would end the process.
func (m mapping) populate(node int) *memoryFailure {
	if m.huge == HugePagesNone {
		return nil
	}
	pool := fmt.Sprintf("/sys/devices/system/node/node%d/hugepages/hugepages-%dkB", node, m.huge>>10)
	hint := emptyPool(m.huge, int(m.length/uintptr(m.huge)), pool) // while none is taken
	switch err := madvise(m, system.MadvPopulateWrite); err {
	case nil, syscall.EINVAL: // a kernel before 5.14 does it when the memory is registered
		return nil
	}
	return &memoryFailure{syscall.ENOMEM, hint}
}

func noNode(errno syscall.Errno, node int) *memoryFailure {
	nodes := cmp.Or(readSys("/sys/devices/system/node/has_memory"), "not known to the kernel")
	return &memoryFailure{errno, fmt.Sprintf("this process cannot have memory of NUMA node %d: the nodes with memory are %s", node, nodes)}
}
