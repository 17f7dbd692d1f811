//go:build !unix

package ibvtest

import "syscall"

// eventFile is no file on systems that have none to wait for.
type eventFile struct{ nonblocking bool }

func (e *eventFile) open() syscall.Errno { return 0 }

func (e *eventFile) fd() int32 { return -1 }

func (e *eventFile) blocks() bool { return !e.nonblocking }

func (e *eventFile) setNonblock(nonblocking bool) { e.nonblocking = nonblocking }

func (e *eventFile) show(int) {}

func (e *eventFile) close() {}
