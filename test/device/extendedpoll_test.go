//go:build device && linux

package device

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Soft-RoCE has no timestamps, VLANs, flow tags or tags, and says so at creation; a
// queue without them has no way to read them, and the error names them.
func TestExtendedPollOfWhatIsNotThere(t *testing.T) {
	r := newRig(t)
	for _, flag := range []ibv.CreateCQWCFlags{
		ibv.WCExWithCompletionTimestamp, ibv.WCExWithCVLAN, ibv.WCExWithFlowTag, ibv.WCExWithTMInfo, ibv.WCExWithCompletionTimestampWallclock,
	} {
		attr := &ibv.CQInitAttrEx{CQE: 4, WCFlags: uint64(flag)}
		_, err := r.ctx.CreateCQEx(attr)
		require.ErrorIs(t, err, syscall.EOPNOTSUPP, "%v", flag)
		_, err = ibv.NewExtendedPoll(r.extendedCQ(4, rxeFlags), ibv.WCFields(flag))
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "created without "+flag.String())
	}
	_, err := ibv.NewExtendedPoll(r.extendedCQ(4, ibv.WCExWithByteLen), rxeFields)
	require.ErrorContains(t, err, "created without IBV_WC_EX_WITH_IMM")
}

// Polls of every size, onto full, half full and empty queues, hand out each
// completion once, in order.
func TestExtendedPollsOfAllSizes(t *testing.T) {
	const n = 32
	r := newBatchRig(t, n)
	fields := []ibv.WCFields{0, ibv.WCFieldOpcode, rxeFields}
	for i := range n {
		require.NoError(t, r.batch.RDMAWrite(i, 0, ibv.SendSignaled, at(r.remote, 0), r.remote.RKey))
		require.NoError(t, r.batch.SetSGE(i, r.local.SGE(0, 8)))
	}
	next, taken := uint64(0), uint64(0)
	for room := 1; room <= n+1; room++ {
		p, err := ibv.NewExtendedPoll(r.a.send, fields[room%len(fields)])
		require.NoError(t, err)
		posted := 1 + (room*7)%n
		for i := range posted {
			require.NoError(t, r.batch.SetWRID(i, next))
			next++
		}
		r.post(posted)
		wcs := make([]ibv.ExtendedWC, room)
		for taken < next {
			k, err := p.Poll(wcs)
			require.NoError(t, err)
			for i := range wcs[:k] {
				require.NoError(t, wcs[i].Err())
				require.Equal(t, taken, wcs[i].WRID)
				taken++
			}
		}
		r.none(r.a.pollSend)
	}
	// The plain poll takes from the same queue.
	r.post(4)
	require.Len(t, r.poll(r.a.send.CQ(), 4), 4)
	r.none(r.a.pollSend)
}

// Of a completion that failed, there is what C says means something.
func TestExtendedPollOfFailures(t *testing.T) {
	r := newBatchRig(t, 3)
	for i := range 3 {
		require.NoError(t, r.batch.RDMAWrite(i, uint64(50+i), ibv.SendSignaled, at(r.remote, 0), r.remote.RKey))
		require.NoError(t, r.batch.SetSGE(i, r.local.SGE(0, 8)))
	}
	require.NoError(t, r.batch.SetRemote(1, at(r.remote, 0), r.remote.RKey+1))
	r.post(3)
	wcs := r.take(r.a.pollSend, 3)
	require.NoError(t, wcs[0].Err())
	var failed *ibv.CompletionError
	require.ErrorAs(t, wcs[1].Err(), &failed)
	require.Equal(t, ibv.WCRemAccessErr, failed.Status)
	require.Equal(t, uint64(51), failed.WRID)
	require.Equal(t, r.a.QPBase.QPNum, failed.QPNum)
	require.Equal(t, ibv.WCWRFlushErr, wcs[2].Status)
}
