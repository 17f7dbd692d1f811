//go:build !freebsd && !openbsd

package ibvtest

import "syscall"

// noData is the errno of an index of a GID table without an entry.
const noData = syscall.ENODATA
