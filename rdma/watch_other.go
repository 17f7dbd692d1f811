//go:build !unix

package rdma

import (
	"os"
	"syscall"
)

// watch is for files of C's, which these systems have none of.
func watch(_ int32, name string) (*os.File, error) {
	return nil, &Error{Op: "watch", On: name, Err: syscall.ENOSYS}
}
