//go:build !freebsd

package ibvtest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

// A fabric may be there before a bubble and after it, and see several: what they leave open, with timers that run and
// events that nobody gets, ends with it.
func TestBubblesOfOneFabric(t *testing.T) {
	f := ibvtest.New(t)
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			b := openBare(t, f.Names()[0])
			_, err := b.ctx.CreateCompChannel()
			require.NoError(t, err)
			qp, err := b.pd.CreateQP(b.attr(ibv.QPTRC))
			require.NoError(t, err)
			retriesForEver(t, b, qp)
			time.Sleep(time.Second / 10)
			require.NoError(t, f.Device(0).SetPort(1, false)) // its event is of the contexts of bubbles before, too
			require.NoError(t, f.Device(0).SetPort(1, true))
		})
	}
	require.NoError(t, f.Device(0).SetPort(1, false))
}

// What is made outside of a bubble may be used in one, as far as nothing waits.
func TestDeviceFromOutsideOfABubble(t *testing.T) {
	r := newRig(t)
	a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
	connect(t, a, b)
	synctest.Test(t, func(t *testing.T) {
		_, err := a.Raw().PostSend(&ibv.SendWR{Opcode: ibv.WRSend, SendFlags: ibv.SendSignaled})
		require.NoError(t, err)
		_, err = b.Raw().PostRecv(&ibv.RecvWR{})
		require.NoError(t, err)
		time.Sleep(time.Minute)
		n, err := r.cq.Poll(make([]ibv.WC, 4))
		require.NoError(t, err)
		assert.Equal(t, 2, n)
	})
}

// retriesForEver has a queue pair send to one that has no receive: itself.
func retriesForEver(t *testing.T, b bare, qp *ibv.QP) {
	t.Helper()
	gid, err := b.ctx.QueryGID(1, 0)
	require.NoError(t, err)
	const state = ibv.QPAttrMaskState
	way := ibv.AHAttr{IsGlobal: 1, PortNum: 1, GRH: ibv.GlobalRoute{DGID: gid}}
	for _, to := range []struct {
		attr ibv.QPAttr
		mask ibv.QPAttrMask
	}{
		{ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1}, state | ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskAccessFlags},
		{
			ibv.QPAttr{QPState: ibv.QPSRTR, AHAttr: way, PathMTU: ibv.MTU1024, DestQPNum: qp.QPNum, MinRNRTimer: 12},
			state | ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN | ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer,
		},
		{
			ibv.QPAttr{QPState: ibv.QPSRTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7},
			state | ibv.QPAttrMaskSQPSN | ibv.QPAttrMaskTimeout | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskMaxQPRdAtomic,
		},
	} {
		require.NoError(t, qp.Modify(&to.attr, to.mask))
	}
	_, err = qp.PostSend(&ibv.SendWR{Opcode: ibv.WRSend})
	require.NoError(t, err)
}
