package suites

import (
	"errors"
	"os"
	"syscall"
)

// tryLock locks a file until it is closed, unless another has it locked.
func tryLock(file *os.File) (locked bool, err error) {
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return false, nil
	}
	return err == nil, err
}
