//go:build device && linux

package device

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
)

// watched is a file of Go's that becomes readable with the channel.
func watched(t *testing.T, channel *ibv.CompChannel) *os.File {
	t.Helper()
	fd, err := unix.FcntlInt(uintptr(channel.FD), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	file := os.NewFile(uintptr(fd), "completion channel")
	t.Cleanup(func() { _ = file.Close() })
	return file
}

// waitFor gets an event of the channel, and waits as file does.
func waitFor(channel *ibv.CompChannel, file *os.File) (cq *ibv.CQ, context uintptr, err error) {
	conn, err := file.SyscallConn()
	if err != nil {
		return nil, 0, err
	}
	var failed error
	err = conn.Read(func(uintptr) bool {
		cq, context, failed = channel.GetCQEvent()
		return !errors.Is(failed, syscall.EAGAIN)
	})
	return cq, context, errors.Join(err, failed)
}

// Go's runtime can wait for a channel's events, until a deadline.
func TestWaitForEventWithDeadline(t *testing.T) {
	l := newListener(t, true, 0)
	file := watched(t, l.channel)
	require.NoError(t, l.cq.ReqNotify(false))

	start := time.Now()
	require.NoError(t, file.SetReadDeadline(start.Add(30*time.Millisecond)))
	_, _, err := waitFor(l.channel, file)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.GreaterOrEqual(t, time.Since(start), 30*time.Millisecond, "it must have waited")

	// An event wakes who waits, again and again, and so it does when it came before.
	require.NoError(t, file.SetReadDeadline(time.Now().Add(patience)))
	for _, before := range []bool{false, true, false} {
		if before {
			l.message(0)
		}
		type got struct {
			cq      *ibv.CQ
			context uintptr
			err     error
		}
		events := make(chan got)
		go func() {
			cq, context, err := waitFor(l.channel, file)
			events <- got{cq, context, err}
		}()
		if !before {
			select {
			case e := <-events:
				require.Fail(t, "an event that nobody caused", "%+v", e)
			case <-time.After(20 * time.Millisecond):
			}
			l.message(0)
		}
		e := <-events
		require.NoError(t, e.err)
		require.Same(t, l.cq, e.cq)
		require.Equal(t, cookie, e.context)
		require.NoError(t, e.cq.AckEvents(1))
		require.NoError(t, l.cq.ReqNotify(false))
		l.poll(l.cq, 1)
	}
	l.noEvent()
}

// Closing the file wakes who waits, and the channel is as it was.
func TestClosedFileWakesWaiter(t *testing.T) {
	l := newListener(t, true, 0)
	file := watched(t, l.channel)
	woken := make(chan error)
	go func() {
		_, _, err := waitFor(l.channel, file)
		woken <- err
	}()
	select {
	case err := <-woken:
		require.Fail(t, "it did not wait", "%v", err)
	case <-time.After(20 * time.Millisecond):
	}
	require.NoError(t, file.Close())
	select {
	case err := <-woken:
		require.Error(t, err)
		require.NotErrorIs(t, err, syscall.EBADF, "C must not be asked")
	case <-time.After(patience):
		require.Fail(t, "closing the file has not ended the wait")
	}
	require.NoError(t, l.cq.ReqNotify(false))
	l.message(0)
	l.event()
}
