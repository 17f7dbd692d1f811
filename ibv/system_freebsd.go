package ibv

import "syscall"

// noEntry is the errno of an index of a GID table without an entry.
const noEntry = syscall.ENOENT

// What to do about a failure depends on the system.
const (
	hintNoDevice  = "it may have one whose driver is not loaded, such as mlx5ib: see kldload(8)"
	hintNoModules = "load the device's driver, such as mlx5ib, with kldload(8)"
	hintNoAccess  = "the user needs access to /dev/uverbs*"
	hintLater     = ""
)
