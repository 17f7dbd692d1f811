package ibv

import "syscall"

// noEntry is the errno of an index of a GID table without an entry.
const noEntry = syscall.ENODATA

// noData is the errno of memory that is in no DMA-buf; elsewhere there is none.
const noData = syscall.ENODATA

// What to do about a failure depends on the system.
const (
	hintNoDevice  = "with Soft-RoCE it can have one: rdma link add rxe0 type rxe netdev NAME; and a network namespace may not have the machine's (rdma system)"
	hintNoModules = "load ib_uverbs and the device's driver"
	hintNoAccess  = "the user needs access to /dev/infiniband/uverbs*"
	hintLater     = "the process may have as many RDMA objects as its cgroup allows (rdma.max)"
)
