//go:build unix && !freebsd

package ibvtest_test

import (
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

func readable(t *testing.T, fd int32) bool {
	t.Helper()
	fds := []unix.PollFd{{Fd: fd, Events: unix.POLLIN}}
	_, err := unix.Poll(fds, 0)
	require.NoError(t, err)
	return fds[0].Revents&unix.POLLIN != 0
}

// The files of channels and contexts are for poll(2), and can be read while there are events.
func TestFilesAreReadable(t *testing.T) {
	e, channel, cq := channelWithQueue(t, 2)
	require.NoError(t, cq.ReqNotify(false))
	require.False(t, readable(t, channel.FD))
	require.False(t, readable(t, e.dev.Raw().AsyncFD))
	e.attach(cq)() // which overruns the queue
	require.True(t, readable(t, channel.FD))
	require.True(t, readable(t, e.dev.Raw().AsyncFD))
	_, _, err := channel.GetCQEvent()
	require.NoError(t, err)
	require.False(t, readable(t, channel.FD))
	event, err := e.dev.Raw().GetAsyncEvent()
	require.NoError(t, err)
	require.NoError(t, event.Ack())
	require.False(t, readable(t, e.dev.Raw().AsyncFD), "the queue pair's is gone with it")
	require.NoError(t, cq.AckEvents(1))
	require.NoError(t, cq.Close())
}

// Go's runtime waits for a duplicate of the file, until a deadline, as with a real device's.
func TestFileWithDeadline(t *testing.T) {
	e, channel, cq := channelWithQueue(t, 8)
	require.NoError(t, channel.SetNonblock(true))
	fd, err := syscall.Dup(int(channel.FD))
	require.NoError(t, err)
	file := os.NewFile(uintptr(fd), "channel")
	t.Cleanup(func() { file.Close() })
	conn, err := file.SyscallConn()
	require.NoError(t, err)
	wait := func() (got *ibv.CQ, err error) {
		var failed error
		err = conn.Read(func(uintptr) bool {
			got, _, failed = channel.GetCQEvent()
			return !errors.Is(failed, syscall.EAGAIN)
		})
		return got, errors.Join(err, failed)
	}
	require.NoError(t, file.SetReadDeadline(time.Now().Add(5*time.Millisecond)))
	_, err = wait()
	require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	require.NoError(t, file.SetReadDeadline(time.Time{}))
	require.NoError(t, cq.ReqNotify(false))
	go e.attach(cq)()
	got, err := wait()
	require.NoError(t, err)
	require.Equal(t, cq, got)
	require.NoError(t, cq.AckEvents(1))
	require.Eventually(t, func() bool { return cq.Close() == nil }, 5*time.Second, time.Millisecond)
}

// Tests leave no files open, whatever they leave open.
func TestNoFilesStay(t *testing.T) {
	next := func() int {
		fd, err := syscall.Dup(0)
		require.NoError(t, err)
		require.NoError(t, syscall.Close(fd))
		return fd
	}
	before := next()
	for range 50 {
		t.Run("", func(t *testing.T) {
			ctx, err := ibv.Open(ibvtest.New(t).Names()[0])
			require.NoError(t, err)
			_, err = ctx.CreateCompChannel()
			require.NoError(t, err)
		})
	}
	require.Less(t, next(), before+50)
}
