package rdma

import (
	"errors"
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// cCloser is an object of a library that this package does not know.
type cCloser struct {
	cObject
	text string
}

func (c *cCloser) Close() error   { return c.destroy() }
func (c *cCloser) String() string { return c.text }

// What is owned takes part in the lifetimes.
func TestOwn(t *testing.T) {
	dev := newFake(t, "dev0")
	qp := newFake(t, "qp", dev)
	raw := &cCloser{text: "flow (handle 3)"}
	flow, err := Own("flow", func() (*cCloser, error) {
		require.ErrorIs(t, qp.Close(), syscall.EBUSY, "a parent stays while it is made")
		return raw, nil
	}, qp, dev)
	require.NoError(t, err)
	require.Same(t, raw, flow.Raw())
	require.Equal(t, "flow (handle 3) on dev0", flow.String())
	require.ErrorIs(t, qp.Close(), syscall.EBUSY)

	reason := errors.New("a reason")
	require.Equal(t, reason, flow.Do("ask", func(got *cCloser) error { require.Same(t, raw, got); return reason }))
	raw.refuse = syscall.EIO
	require.Equal(t, syscall.EIO, dev.CloseAll())
	raw.refuse = nil
	require.NoError(t, dev.CloseAll())
	require.Equal(t, 1, raw.destroyed)
	require.ErrorIs(t, flow.Close(), ErrClosed)
	require.Equal(t, "rdma: ask flow (handle 3) on dev0: it is closed", firstLine(flow.Do("ask", func(*cCloser) error { panic("called") })))
}

// What cannot be owned leaves nothing behind.
func TestOwnFails(t *testing.T) {
	dev := newFake(t, "dev0")
	reason := errors.New("a reason")
	_, err := Own("flow", func() (*cCloser, error) { return nil, reason }, dev)
	require.Equal(t, reason, err)
	_, err = Own("flow", func() (*cCloser, error) { return nil, nil }, dev)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Panics(t, func() { _, _ = Own("flow", func() (*cCloser, error) { panic("no") }, dev) })
	for _, parents := range [][]Object{nil, {nil}, {(*QP)(nil)}, {new(QP)}} {
		_, err := Own("flow", func() (*cCloser, error) { panic("called") }, parents...)
		require.ErrorIs(t, err, syscall.EINVAL, fmt.Sprint(parents))
	}
	require.NoError(t, dev.Close())
	_, err = Own("flow", func() (*cCloser, error) { panic("called") }, dev)
	require.ErrorIs(t, err, ErrClosed)
}
