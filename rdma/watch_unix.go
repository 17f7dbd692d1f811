//go:build unix

package rdma

import (
	"os"
	"syscall"
	"time"
)

// watch has Go's runtime watch a file of C's that does not block: C closes its own
// descriptor, so what comes back is another one of the same file, which the caller
// closes.
func watch(fd int32, name string) (*os.File, error) {
	syscall.ForkLock.RLock() // no child of the process may get it
	own, err := syscall.Dup(int(fd))
	if err == nil {
		syscall.CloseOnExec(own)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, &Error{Op: "watch", On: name, Err: err, Hint: "see ulimit -n"}
	}
	file := os.NewFile(uintptr(own), name)
	if err := file.SetReadDeadline(time.Time{}); err != nil {
		file.Close()
		return nil, &Error{Op: "watch", On: name, Err: err, Hint: "Go's runtime cannot wait for files of this kind on this system: poll instead"}
	}
	return file, nil
}
