package ibvtest

import "syscall"

// noData is the errno of an index of a GID table without an entry: OpenBSD has no ENODATA.
const noData = syscall.ENOENT
