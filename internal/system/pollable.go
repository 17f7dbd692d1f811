//go:build unix

package system

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// pollable reports whether reading a pipe does not wait, on any system: package os asks that, and has deadlines for such
// only. Package syscall has no fcntl(2) for all of them.
func pollable(fd int) (bool, error) {
	syscall.ForkLock.RLock() // no child of the process may get it
	duplicate, err := syscall.Dup(fd)
	if err == nil {
		syscall.CloseOnExec(duplicate)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return false, err
	}
	file := os.NewFile(uintptr(duplicate), "")
	defer file.Close()
	err = file.SetReadDeadline(time.Time{}) // none, as before
	if errors.Is(err, os.ErrNoDeadline) {
		return false, nil
	}
	return err == nil, err
}
