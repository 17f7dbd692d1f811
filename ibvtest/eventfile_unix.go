//go:build unix && !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/internal/system"
)

// eventFile is a file that can be read while there are events. It is a pipe, with a byte for each event.
type eventFile struct {
	read, write int
	bytes       int
	closed      bool
}

func (e *eventFile) open() syscall.Errno {
	var ends [2]int
	syscall.ForkLock.RLock() // no child of the process may get them
	err := syscall.Pipe(ends[:])
	if err == nil {
		syscall.CloseOnExec(ends[0])
		syscall.CloseOnExec(ends[1])
	}
	syscall.ForkLock.RUnlock()
	if err == nil {
		err = syscall.SetNonblock(ends[1], true)
	}
	if errno, is := err.(syscall.Errno); is {
		return errno
	}
	e.read, e.write = ends[0], ends[1]
	return 0
}

// fd is the number that programs know.
func (e *eventFile) fd() int32 { return int32(e.read) }

// blocks reports whether reading is to wait, which a program can change with fcntl(2), as of any file.
func (e *eventFile) blocks() bool {
	if e.closed {
		return true // and nobody can say otherwise any more
	}
	nonblocking, err := system.Nonblocking(e.read)
	return err != nil || !nonblocking
}

func (e *eventFile) setNonblock(nonblocking bool) {
	if !e.closed { // the number may be another file's by now
		_ = syscall.SetNonblock(e.read, nonblocking)
	}
}

// show has the file have a byte for each event, or be full.
func (e *eventFile) show(events int) {
	var b [1]byte
	for !e.closed && e.bytes < events {
		if n, err := syscall.Write(e.write, b[:]); n != 1 || err != nil {
			return
		}
		e.bytes++
	}
	for !e.closed && e.bytes > events {
		if n, err := syscall.Read(e.read, b[:]); n != 1 || err != nil {
			return
		}
		e.bytes--
	}
}

func (e *eventFile) close() {
	if e.closed {
		return
	}
	e.closed = true
	_ = syscall.Close(e.read)
	_ = syscall.Close(e.write)
}
