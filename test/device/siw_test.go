//go:build device && siw

package device

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// siw0 is a second provider with other ways of failing: negative errnos, -1 with
// the reason in errno, and 0 where it refused. Its queue pairs connect through
// rdma_cm only, so these tests do without a peer.
const siwName = "siw0"

// siwReceives is a chain of n receives that siw takes: it wants an entry in each.
func siwReceives(r *rig, n int) *ibv.RecvChain { return r.recvChain(n, r.memory(n)) }

// nextPowerOfTwo is how many work requests a queue of siw takes that was asked for n.
func nextPowerOfTwo(n int) int {
	p := 1
	for p < n {
		p *= 2
	}
	return p
}

func TestSiwDevice(t *testing.T) {
	r := newRigOn(t, siwName)
	require.Equal(t, siwName, r.ctx.Device.String())
	require.Equal(t, ibv.TransportIWARP, r.ctx.Device.TransportType)
	require.Equal(t, ibv.NodeRNIC, r.ctx.Device.NodeType)
	gids, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	require.Equal(t, []ibv.GIDEntry{r.gid}, gids, "the best of one")
	require.False(t, r.gid.GID.IsZero())
	_, err = r.pd.CreateQP(&ibv.QPInitAttr{SendCQ: r.cq(1), RecvCQ: r.cq(1), QPType: ibv.QPTUD, Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 1}})
	require.ErrorIs(t, err, errors.ErrUnsupported, "iWARP has no datagrams")
	qp := r.side(ibv.QPTRC, 1, 1, nil)
	require.ErrorIs(t, qp.recv.Close(), syscall.EBUSY)
	_, err = r.pd.RegMR(make([]byte, 8), ibv.AccessRemoteWrite)
	require.ErrorIs(t, err, syscall.EINVAL, "remote write needs local write")
}

// "" is a device that can be connected without rdma_cm, wherever it stands in the list.
func TestSiwIsNotTheFirstChoice(t *testing.T) {
	list, err := ibv.Devices()
	require.NoError(t, err)
	defer func() { require.NoError(t, list.Close()) }()
	require.Equal(t, siwName, list.All()[0].String(), "this test wants siw0 in front of rxe0")
	ctx, err := ibv.Open("")
	require.NoError(t, err)
	defer func() { require.NoError(t, ctx.Close()) }()
	require.Equal(t, deviceName, ctx.Device.String())
}

func TestSiwReceiveQueueFull(t *testing.T) {
	r := newRigOn(t, siwName)
	for _, asked := range []int{1, 4, 7, 40} {
		room := nextPowerOfTwo(asked)
		n := room + 5
		qp := r.side(ibv.QPTRC, 1, uint32(asked), nil)
		chain := siwReceives(r, n)
		// It takes receives in RESET already.
		require.Equal(t, ibv.QPSReset, qp.State)
		accepted, err := chain.Post(qp.QP)
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.Equal(t, room, accepted)
		for range 3 {
			again, err := chain.PostRange(qp.QP, accepted, n)
			require.ErrorIs(t, err, syscall.ENOMEM)
			require.Zero(t, again)
		}
		bad, err := qp.PostRecv(chain.WR(2))
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Same(t, chain.WR(2), bad)
		for i := range n {
			require.Equal(t, i+1 < n, chain.WR(i).Next != nil, "the chain is whole again")
		}
		none, err := chain.PostPicked(qp.QP, []int{2, 0, 1})
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.Zero(t, none)
		r.quiet(qp.recv)
		require.NoError(t, toErr(qp.QP))
		for i, wc := range r.pollAny(qp.recv, room) {
			require.Equal(t, uint64(i), wc.WRID, "exactly those that were accepted, in order")
			require.Equal(t, ibv.WCWRFlushErr, wc.Status)
		}
		r.quiet(qp.recv)
	}
}

// What siw does not take has none or more than six entries.
func TestSiwReceiveIsRefusedInTheMiddle(t *testing.T) {
	const n, at, most = 6, 3, 6
	r := newRigOn(t, siwName)
	mr := r.memory(1)
	for _, entries := range []int{0, most + 1} {
		chain, err := ibv.NewRecvChain(n, most+1)
		require.NoError(t, err)
		for i := range n {
			k := most
			if i == at {
				k = entries
			}
			sges := make([]ibv.SGE, k)
			for j := range sges {
				sges[j] = mr.SGE(j*8, 8)
			}
			require.NoError(t, chain.Set(i, uint64(i), sges...))
		}
		qp := r.side(ibv.QPTRC, 1, 2*n, nil)
		accepted, err := chain.Post(qp.QP)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.Equal(t, at, accepted)
		rest, err := chain.PostRange(qp.QP, at+1, n)
		require.NoError(t, err)
		require.Equal(t, n-at-1, rest)
		srq := r.srq(2 * n)
		accepted, err = chain.PostSRQ(srq)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.Equal(t, at, accepted)
		require.NoError(t, toErr(qp.QP))
		for k, wc := range r.pollAny(qp.recv, n-1) {
			require.Equal(t, uint64([]int{0, 1, 2, 4, 5}[k]), wc.WRID)
		}
		r.quiet(qp.recv)
	}
}

// A shared receive queue works, and cannot be asked for its attributes.
func TestSiwSharedReceiveQueue(t *testing.T) {
	const asked = 20
	room := nextPowerOfTwo(asked)
	r := newRigOn(t, siwName)
	srq := r.srq(asked)
	_, err := srq.Query()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	qp := r.side(ibv.QPTRC, 1, 0, srq)
	chain := siwReceives(r, room+5)
	// The provider would follow a nil pointer.
	accepted, err := chain.Post(qp.QP)
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Zero(t, accepted)
	bad, err := qp.PostRecv(chain.WR(0))
	require.ErrorIs(t, err, ibv.ErrSRQAttached)
	require.Same(t, chain.WR(0), bad)
	accepted, err = chain.PostSRQ(srq)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, room, accepted)
	again, err := chain.PostRange(srq, accepted, chain.Len())
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, again)
	bad, err = srq.PostRecv(chain.WR(7))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, chain.WR(7), bad)
}

// Without a connection the doorbell fails: the result is -1, the reason is in errno,
// and siw names no work request though it has taken all of them.
func TestSiwSendWithoutConnection(t *testing.T) {
	r := newRigOn(t, siwName)
	qp := r.side(ibv.QPTRC, 8, 1, nil)
	sends := r.sendChain(3, r.memory(3), func(int) int { return 8 })
	accepted, err := sends.Post(qp.QP)
	require.ErrorIs(t, err, syscall.ENOTCONN)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, -1, accepted)
	qp = r.side(ibv.QPTRC, 8, 1, nil)
	bad, err := qp.PostSend(sends.WR(0))
	require.ErrorIs(t, err, syscall.ENOTCONN)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Nil(t, bad)
}

// When the doorbell goes well, siw says 0 although it refused: only what it says of
// the refused work request gives it away.
func TestSiwSendQueueFull(t *testing.T) {
	const asked = 5
	room := nextPowerOfTwo(asked)
	r := newRigOn(t, siwName)
	qp := r.side(ibv.QPTRC, asked, 1, nil)
	require.NoError(t, toErr(qp.QP)) // here the doorbell is heard, and nothing is taken off the queue
	sends := r.sendChain(room+5, r.memory(room+5), func(int) int { return 8 })
	accepted, err := sends.Post(qp.QP)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Equal(t, room, accepted)
	var refused *ibv.PostError
	require.ErrorAs(t, err, &refused)
	require.True(t, refused.Unexplained)
	// No room for any: now it gives the reason itself.
	again, err := sends.PostRange(qp.QP, accepted, sends.Len())
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Zero(t, again)
	require.ErrorAs(t, err, &refused)
	require.False(t, refused.Unexplained)
	picked := r.side(ibv.QPTRC, 2, 1, nil)
	require.NoError(t, toErr(picked.QP))
	again, err = sends.PostPicked(picked.QP, []int{5, 2, 7})
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Equal(t, 2, again)
	bad, err := qp.PostSend(sends.WR(3))
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Same(t, sends.WR(3), bad)
}

// Refusals at the first, a middle and the last work request of a send.
func TestSiwSendIsRefusedInTheMiddle(t *testing.T) {
	const n = 5
	r := newRigOn(t, siwName)
	mr := r.memory(1)
	for at := range n {
		chain, err := ibv.NewSendChain(n, 7)
		require.NoError(t, err)
		for i := range n {
			require.NoError(t, chain.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, mr.SGE(0, 8)))
		}
		chain.WR(at).Opcode = ibv.WRAtomicFetchAndAdd // iWARP has none
		qp := r.side(ibv.QPTRC, 2*n, 1, nil)
		require.NoError(t, toErr(qp.QP))
		accepted, err := chain.Post(qp.QP)
		var refused *ibv.PostError
		require.ErrorAs(t, err, &refused)
		require.False(t, refused.AcceptedUnknown)
		require.Equal(t, at, accepted)
		// The reason is there if no doorbell was needed for those before it.
		require.Equal(t, at > 0, refused.Unexplained)
		if at == 0 {
			require.Equal(t, syscall.EINVAL, refused.Errno)
		}
	}
}
