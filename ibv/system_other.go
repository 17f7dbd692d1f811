//go:build !linux && !freebsd

package ibv

import "syscall"

// noEntry is the errno of an index of a GID table without an entry.
const noEntry = syscall.ENOENT

// noData is the errno of memory that is in no DMA-buf; elsewhere there is none.
const noData = syscall.ENOENT

// There are no devices here to give advice about.
const (
	hintNoDevice  = ""
	hintNoModules = ""
	hintNoAccess  = ""
	hintLater     = ""
)
