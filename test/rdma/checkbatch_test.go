//go:build device && linux

package rdma

import (
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// Mistakes in batches are found as those in chains are, and what is right is posted.
func TestMistakesInBatches(t *testing.T) {
	guest.Needs(t, guest.Extended)
	if !inCheckedMode(t) {
		return
	}
	r := newRig(t)
	cq := r.cq(8)
	qp := r.inState(r.pd, rdma.QPOptions{
		SendCQ: cq, RecvCQ: cq, SendOps: ibv.QPExWithSend | ibv.QPExWithRDMARead | ibv.QPExWithRDMAWrite,
		Cap: ibv.QPCap{MaxSendWR: 3, MaxRecvWR: 3, MaxSendSGE: 2, MaxRecvSGE: 1, MaxInlineData: 16},
	}, ibv.QPSRTS)
	region, closed := r.region(64), r.region(64)
	gone := closed.SGE(0, 64)
	require.NoError(t, closed.Close())
	batch, err := qp.NewBatch(3, 4)
	require.NoError(t, err)
	write := func(sge ibv.SGE) {
		for i := range 3 {
			require.NoError(t, batch.RDMAWrite(i, uint64(i), ibv.SendSignaled, region.SGE(0, 1).Addr, region.RKey()))
			require.NoError(t, batch.SetSGE(i, sge))
		}
	}
	refused := func(errno syscall.Errno, text string) {
		t.Helper()
		accepted, err := qp.PostBatch(batch)
		require.Zero(t, accepted)
		require.ErrorIs(t, err, errno)
		line, _, _ := strings.Cut(err.Error(), "\n")
		require.Equal(t, "rdma: post a batch to "+qp.String()+": "+errno.Error()+"; "+text, line)
	}

	write(gone)
	refused(syscall.EINVAL, "work request 0 (WRID 0x0) has entry 0 with lkey "+hex(gone.LKey)+" of "+closed.String()+", which was closed; nothing was posted")
	write(region.SGE(0, 16))
	require.NoError(t, batch.SetSGE(2, region.SGE(60, 5)))
	refused(syscall.EINVAL, "work request 2 (WRID 0x2) has entry 0 with 5 bytes at "+hex(region.SGE(60, 1).Addr)+", outside "+region.String()+", which has 64 at "+hex(region.SGE(0, 1).Addr)+"; nothing was posted")
	require.NoError(t, batch.SetInline(2, make([]byte, int(qp.Cap().MaxInlineData)+1)))
	accepted, err := qp.PostBatch(batch)
	require.Zero(t, accepted)
	require.ErrorContains(t, err, "bytes inline, and the queue pair was made for")
	require.NoError(t, batch.SetSGEs(2, region.SGE(0, 4), region.SGE(4, 4)))

	accepted, err = qp.PostBatch(batch)
	require.NoError(t, err)
	require.Equal(t, 3, accepted)
	refused(syscall.ENOMEM, "3 work requests are outstanding, and it holds 3: poll their completions first")
	r.poll(cq, 3)
	accepted, err = qp.PostBatch(batch)
	require.NoError(t, err)
	require.Equal(t, 3, accepted)
	r.poll(cq, 3)
}

func hex[T uint32 | uint64](n T) string { return fmt.Sprintf("%#x", n) }
