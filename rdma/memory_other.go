//go:build !linux

package rdma

import (
	"errors"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// mapMemory gets memory from the system, and the function that gives it back.
func mapMemory(size int, opts RegionOptions) (memory []byte, unmap func() error, failure *memoryFailure) {
	var missing string
	switch {
	case opts.HugePages != HugePagesNone && !opts.HugePagesOptional:
		missing = "HugePages"
	case opts.NUMANode != AnyNode:
		missing = "NUMANode"
	case opts.DontFork:
		missing = "DontFork"
	}
	if missing != "" {
		return nil, nil, &memoryFailure{syscall.EOPNOTSUPP, missing + " is for Linux"}
	}
	buf, err := ibv.AllocBuffer(size)
	if err != nil {
		failure := &memoryFailure{syscall.ENOMEM, "the machine has not that much memory"}
		errors.As(err, &failure.errno)
		return nil, nil, failure
	}
	return buf, buf.Free, nil
}

// NUMANode is the number of the NUMA node that the device is attached to, which is
// known on Linux.
func (d *Device) NUMANode() (number int, ok bool) { return 0, false }
