//go:build unix

package ibv_test

import (
	"errors"
	"log"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
)

// Events are waited for in Go's way: until a deadline, or until somebody closes the
// file, and without a thread of the system's. For that, Go's runtime watches a second
// descriptor of the channel's file.
func ExampleCompChannel_SetNonblock() {
	var channel *ibv.CompChannel // of a completion queue whose notification was requested
	if err := channel.SetNonblock(true); err != nil {
		log.Fatal(err)
	}
	fd, err := unix.FcntlInt(uintptr(channel.FD), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		log.Fatal(err)
	}
	file := os.NewFile(uintptr(fd), "completion channel")
	defer file.Close() // before the channel: it wakes who waits, and C's descriptor stays
	if err := file.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		log.Fatal(err)
	}
	cq, err := waitFor(channel, file)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		log.Print("nothing came for a second")
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	if err := cq.AckEvents(1); err != nil {
		log.Fatal(err)
	}
	// Request the next notification here, and poll cq.
}

// waitFor is GetCQEvent that waits as file does.
func waitFor(channel *ibv.CompChannel, file *os.File) (cq *ibv.CQ, err error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, err
	}
	var failed error
	err = conn.Read(func(uintptr) bool {
		cq, _, failed = channel.GetCQEvent()
		return !errors.Is(failed, syscall.EAGAIN) // false: once more when it is readable
	})
	if err != nil {
		return nil, err
	}
	return cq, failed
}
