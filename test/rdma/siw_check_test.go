//go:build siw && device && linux

package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A completion queue is not accused of being smaller than a shared receive queue that
// cannot be asked how much it takes.
func TestSiwCheckedSharedQueue(t *testing.T) {
	if !inCheckedMode(t) {
		return
	}
	rdma.NoLeaks(t)
	dev, err := rdma.Open(siwName, rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	raw, err := pd.Raw().CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 16, MaxSGE: 1}})
	require.NoError(t, err)
	defer func() { require.NoError(t, raw.Close()) }()
	srq, err := pd.AdoptSRQ(raw)
	require.NoError(t, err)
	cq, err := dev.CreateCQ(64, rdma.CQOptions{})
	require.NoError(t, err)
	qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq, Cap: ibv.QPCap{MaxSendWR: 8, MaxSendSGE: 1}})
	require.NoError(t, err)
	require.NoError(t, qp.Close())
	require.NoError(t, srq.Close())
}
