//go:build !freebsd

package ibvtest_test

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A work request that points where no memory is, at which C faults, is refused, and those before it are posted.
func TestWorkRequestsThatAreNotThere(t *testing.T) {
	const nowhere = 4096 + 8 // where systems map nothing, and Go neither
	r := newRig(t)
	a, b := r.qpOf(ibv.QPTRC, ibv.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 32}), r.qp(ibv.QPTRC)
	connect(t, a, b)
	// Safe: the words are pointers, which ibvtest looks at before it follows them, and the collector has nothing there.
	word := func(at unsafe.Pointer) { *(*uintptr)(at) = nowhere }

	sends := func(wr *ibv.SendWR) (any, error) { return a.Raw().PostSend(wr) }
	next := &ibv.SendWR{WRID: 1, Opcode: ibv.WRRDMAWrite, SendFlags: ibv.SendSignaled}
	word(unsafe.Pointer(&next.Next))
	_, err := sends(next)
	assert.ErrorIs(t, err, syscall.EFAULT, "the next one")
	entries := &ibv.SendWR{NumSGE: 2}
	word(unsafe.Pointer(&entries.SGList))
	bad, err := sends(entries)
	assert.ErrorIs(t, err, syscall.EFAULT, "entries")
	assert.Same(t, entries, bad)
	for _, at := range []uint64{0, nowhere, 1<<64 - 4} {
		_, err = sends(&ibv.SendWR{SGList: &ibv.SGE{Addr: at, Length: 8}, NumSGE: 1, SendFlags: ibv.SendInline})
		assert.ErrorIs(t, err, syscall.EFAULT, "data that is carried, at %#x", at)
	}
	_, err = sends(&ibv.SendWR{SGList: &ibv.SGE{Length: 1<<32 - 1}, NumSGE: 1, SendFlags: ibv.SendInline})
	assert.ErrorIs(t, err, syscall.EINVAL, "more than can be carried is not looked at")

	wcs := make([]ibv.WC, 8)
	n, err := r.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	assert.EqualValues(t, 1, wcs[0].WRID)

	receive := &ibv.RecvWR{NumSGE: 1}
	word(unsafe.Pointer(&receive.SGList))
	_, err = b.Raw().PostRecv(receive)
	assert.ErrorIs(t, err, syscall.EFAULT, "entries of a receive")
	nextReceive := &ibv.RecvWR{}
	word(unsafe.Pointer(&nextReceive.Next))
	_, err = b.Raw().PostRecv(nextReceive)
	assert.ErrorIs(t, err, syscall.EFAULT, "the next receive")

	loop := &ibv.RecvWR{}
	loop.Next = loop
	_, err = b.Raw().PostRecv(loop)
	assert.ErrorIs(t, err, syscall.ENOMEM, "a list without an end fills the queue")
}
