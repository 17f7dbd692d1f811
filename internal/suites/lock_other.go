//go:build !linux

package suites

import (
	"errors"
	"os"
)

// tryLock is for compilers only: there is no apt on these systems.
func tryLock(*os.File) (locked bool, err error) { return false, errors.ErrUnsupported }
