package rdma

import (
	"os"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// signal says when there may be events to get.
type signal interface {
	// wait calls try, and again whenever there may be more events, until it is true. The
	// error is os.ErrDeadlineExceeded after expire, and another one after close.
	wait(try func() bool) error
	expire()
	close()
}

// signalOf is the signal of an object whose events come to a file that does not block.
func signalOf(object unsafe.Pointer, fd int32, name string) (signal, error) {
	if come := ccall.AskReady(object); come != nil {
		return &tokens{come: come, expired: make(chan struct{}), closed: make(chan struct{})}, nil
	}
	file, err := watch(fd, name)
	if err != nil {
		return nil, err
	}
	return newWatchedFile(file)
}

// watchedFile is a duplicate of C's file, which the runtime watches.
type watchedFile struct {
	file *os.File
	conn syscall.RawConn
}

// newWatchedFile closes the file where it fails.
func newWatchedFile(file *os.File) (*watchedFile, error) {
	conn, err := file.SyscallConn()
	if err != nil {
		file.Close()
		return nil, &Error{Op: "watch", On: file.Name(), Err: err}
	}
	return &watchedFile{file, conn}, nil
}

// wait has the runtime call the function again when the file has become readable since.
func (w *watchedFile) wait(try func() bool) error {
	return w.conn.Read(func(uintptr) bool { return try() })
}

func (w *watchedFile) expire() {
	_ = w.file.SetReadDeadline(time.Unix(1, 0)) // long ago; the file is closed if that fails
}

func (w *watchedFile) close() { _ = w.file.Close() } // which wakes who waits

// tokens are the signal of a device in the process: see [ccall.Ready].
type tokens struct {
	come            <-chan struct{}
	expired, closed chan struct{}
	expire1, close1 sync.Once
}

// wait looks once more whenever it has taken a token, even if it is to end: there may be
// an event that nobody else is told of.
func (t *tokens) wait(try func() bool) error {
	select {
	case <-t.closed:
		return os.ErrClosed
	case <-t.expired:
		return os.ErrDeadlineExceeded
	default:
	}
	for !try() {
		select {
		case <-t.come:
		case <-t.expired:
			return os.ErrDeadlineExceeded
		case <-t.closed:
			return os.ErrClosed
		}
	}
	return nil
}

func (t *tokens) expire() { t.expire1.Do(func() { close(t.expired) }) }

func (t *tokens) close() { t.close1.Do(func() { close(t.closed) }) }
