package rdma

import (
	"cmp"
	"fmt"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
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

func noNode(errno unix.Errno, node int) *memoryFailure {
	nodes := cmp.Or(readSys("/sys/devices/system/node/has_memory"), "not known to the kernel")
	return &memoryFailure{errno, fmt.Sprintf("this process cannot have memory of NUMA node %d: the nodes with memory are %s", node, nodes)}
}
