//go:build !freebsd

package inprocess

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/postforms"
	"github.com/goverbs/goverbs/rdma"
)

// rig is queues of a device, with what the device was asked for and has taken. Its queue pairs have failed, so that they
// take whatever is posted and flush it.
type rig struct {
	postforms.Queues
	t  *testing.T
	f  *ibvtest.Fabric
	cq *rdma.CQ

	asked   int             // how many work requests it was asked to take
	taken   []uint64        // the WRIDs of those that it took
	refusal ibvtest.Refusal // of the work request at index, if that is not negative
	index   int
}

func open(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, f: ibvtest.New(t), index: -1}
	dev, err := rdma.Open(r.f.Names()[0], rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	r.cq, err = dev.CreateCQ(1<<15, rdma.CQOptions{NoChannel: true})
	require.NoError(t, err)
	srq, err := pd.CreateSRQ(1<<14, rdma.SRQOptions{MaxSGE: 2})
	require.NoError(t, err)
	queuePair := func(srq *rdma.SRQ) *ibv.QP {
		room := ibv.QPCap{MaxSendWR: 64, MaxSendSGE: 2}
		if srq == nil {
			room.MaxRecvWR, room.MaxRecvSGE = 64, 2
		}
		qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: r.cq, RecvCQ: r.cq, SRQ: srq, Cap: room})
		require.NoError(t, err)
		require.NoError(t, qp.ToErr())
		return qp.Raw()
	}
	r.Queues = postforms.Queues{QP: queuePair(nil), SRQQP: queuePair(srq), SRQ: srq.Raw()}
	r.f.OnPost(func(p *ibvtest.PostedWR) {
		r.asked++
		if p.Index == r.index {
			p.Refuse(r.refusal)
			return
		}
		r.taken = append(r.taken, p.WRID)
	})
	return r
}

// forget has the rig start anew, with the first n work requests of each post taken and the next one refused. All are taken if
// n is negative.
func (r *rig) forget(n int, refusal ibvtest.Refusal) {
	r.asked, r.taken, r.refusal, r.index = 0, nil, refusal, n
	wcs := make([]ibv.WC, 256)
	_, err := r.cq.Poll(wcs)
	require.NoError(r.t, err)
}

// flushed is the WRIDs of what the queue pairs have had.
func (r *rig) flushed() (ids []uint64) {
	r.t.Helper()
	wcs := make([]ibv.WC, 256)
	n, err := r.cq.Poll(wcs)
	require.NoError(r.t, err)
	for _, wc := range wcs[:n] {
		require.Equal(r.t, ibv.WCWRFlushErr, wc.Status)
		ids = append(ids, wc.WRID)
	}
	return ids
}
