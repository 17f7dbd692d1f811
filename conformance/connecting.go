package conformance

import (
	"context"
	"errors"
	"net"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var connectScenarios = []Scenario{
	{"connect", "RC over a byte stream", "rdma.QP.Connect; IBTA 12.9", connectRC},
	{"connect", "UC over a byte stream", "rdma.QP.Connect", connectUC},
	{"connect", "UD over a byte stream", "rdma.QP.Connect", connectUD},
	{"connect", "receives that are ready", "rdma.ConnectOptions.Ready", connectReady},
	{"connect", "the smaller MTU of both", "rdma.ConnectOptions.MTU; IBTA 9.7.1", connectMTU},
	{"connect", "given up", "rdma.QP.Connect", connectCancelled},
	{"connect", "ends that do not fit", "rdma.QP.Connect", connectUnfit},
	{"connect", "again after a reset", "rdma.QP.ToReset; IBTA 10.3.1.1", connectAgain},
	{"connect", "told that the peer has ended", "rdma.ConnectOptions.Watch", connectWatched},
	{"connect", "iWARP needs librdmacm", "rdma.QP.Connect; RFC 5044", connectIWARP},
}

// dial connects two queue pairs by a byte stream.
func dial(t *T, a, b *rdma.QP, optsA, optsB rdma.ConnectOptions) (atA, atB *rdma.Connection, errA, errB error) {
	toB, toA := net.Pipe()
	t.Cleanup(func() { _ = errors.Join(toA.Close(), toB.Close()) })
	done := make(chan struct{})
	go func() {
		defer close(done)
		if atB, errB = b.Connect(t.Context(), toA, optsB); errB != nil {
			toA.Close() // the peer hears of it
		}
	}()
	if atA, errA = a.Connect(t.Context(), toB, optsA); errA != nil {
		toB.Close()
	}
	<-done
	return atA, atB, errA, errB
}

// dialled is dial that succeeds.
func dialled(t *T, a, b *End, optsA, optsB rdma.ConnectOptions) (atA, atB *rdma.Connection) {
	atA, atB, errA, errB := dial(t, a.QP, b.QP, optsA, optsB)
	require.NoError(t, errA)
	require.NoError(t, errB)
	return atA, atB
}

// apart is two ends that are not connected, of a device that Connect can connect.
func apart(t *T, typ ibv.QPType) (a, b *End) {
	t.Needs(Moves)
	t.Needs(typeProperty(typ)...)
	return t.Unconnected(PairOptions{Type: typ})
}

// message sends a message, and requires that it arrives.
func message(t *T, from, to *End) {
	to.Buffers(1, 64)
	Fill(from.Slot(2, 64), 3)
	chain := t.Sends(1, 1)
	require.NoError(t, chain.Set(0, 1, ibv.WRSend, ibv.SendSignaled, from.Memory.SGE(128, 64)))
	from.Post(chain)
	t.Done(from.SendCQ, 1)
	t.Done(to.RecvCQ, 1)
	require.Equal(t, from.Slot(2, 64), to.Slot(0, 64))
}

func connectRC(t *T) {
	a, b := apart(t, ibv.QPTRC)
	atA, atB := dialled(t, a, b, rdma.ConnectOptions{Data: []byte("from a")}, rdma.ConnectOptions{Data: []byte("from b")})
	require.Equal(t, "from b", string(atA.Data))
	require.Equal(t, "from a", string(atB.Data))
	require.Equal(t, b.Number(), atA.Peer.QPNum)
	require.Equal(t, a.Number(), atB.Peer.QPNum)
	require.Equal(t, t.Port().ActiveMTU, atA.Path.MTU)
	require.Equal(t, t.All()&^ibv.AccessLocalWrite, atA.Access&^ibv.AccessLocalWrite)
	require.Positive(t, atA.Reads)
	for _, end := range []*End{a, b} {
		state, err := end.State()
		require.NoError(t, err)
		require.Equal(t, ibv.QPSRTS, state)
	}
	message(t, a, b)
	message(t, b, a)
	writes(t, a, b, 32, b.Memory.SGE(1024, 32).Addr, b.Memory.RKey())
}

func connectUC(t *T) {
	a, b := apart(t, ibv.QPTUC)
	dialled(t, a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{})
	message(t, a, b)
	message(t, b, a)
}

func connectUD(t *T) {
	a, b := apart(t, ibv.QPTUD)
	atA, atB := dialled(t, a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{})
	for _, side := range []struct {
		from, to *End
		at       *rdma.Connection
	}{{a, b, atA}, {b, a, atB}} {
		side.to.Buffers(1, 128)
		chain := t.Sends(1, 1)
		require.NoError(t, chain.SetUD(0, 1, ibv.WRSend, ibv.SendSignaled, side.from.Memory.SGE(512, 20), side.at.AH.Raw(), side.at.Peer.QPNum, side.at.QKey))
		side.from.Post(chain)
		t.Done(side.from.SendCQ, 1)
		wc := t.Done(side.to.RecvCQ, 1)[0]
		require.Equal(t, side.from.Number(), wc.SrcQP)
	}
}

// A peer may send as soon as it is connected.
func connectReady(t *T) {
	a, b := apart(t, ibv.QPTRC)
	ready := 0
	dialled(t, a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{Ready: func() error {
		ready++
		b.Buffers(1, 64)
		return nil
	}})
	require.Equal(t, 1, ready)
	a.Post(sends(t, a.Memory, 1, 8))
	t.Done(b.RecvCQ, 1)
	c, d := apart(t, ibv.QPTRC)
	reason := errors.New("not ready")
	_, _, errA, errB := dial(t, c.QP, d.QP, rdma.ConnectOptions{}, rdma.ConnectOptions{Ready: func() error { return reason }})
	require.ErrorIs(t, errB, reason)
	require.Error(t, errA)
}

func connectMTU(t *T) {
	a, b := apart(t, ibv.QPTRC)
	atA, atB := dialled(t, a, b, rdma.ConnectOptions{MTU: ibv.MTU256}, rdma.ConnectOptions{})
	require.Equal(t, ibv.MTU256, atA.Path.MTU)
	require.Equal(t, ibv.MTU256, atB.Path.MTU)
	attr, _, err := b.Query(ibv.QPAttrMaskPathMTU)
	require.NoError(t, err)
	require.Equal(t, ibv.MTU256, attr.PathMTU)
	b.Buffers(1, 1000)
	Fill(a.Slot(0, 1000), 5)
	a.Post(sends(t, a.Memory, 1, 1000)) // in four packets
	t.Done(b.RecvCQ, 1)
	require.Equal(t, a.Slot(0, 1000), b.Slot(0, 1000))
}

func connectCancelled(t *T) {
	a, _ := apart(t, ibv.QPTRC)
	reason := errors.New("the reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	conn, silent := net.Pipe()
	defer conn.Close()
	defer silent.Close()
	cancel(reason)
	_, err := a.Connect(ctx, conn, rdma.ConnectOptions{})
	require.ErrorIs(t, err, reason)
	state, err := a.State()
	require.NoError(t, err)
	require.Equal(t, ibv.QPSInit, state)
}

func connectUnfit(t *T) {
	t.Needs(UC)
	a, _ := apart(t, ibv.QPTRC)
	_, b := apart(t, ibv.QPTUC)
	_, _, errA, errB := dial(t, a.QP, b.QP, rdma.ConnectOptions{}, rdma.ConnectOptions{})
	for _, err := range []error{errA, errB} {
		require.True(t, errors.Is(err, syscall.EPROTO) || errors.Is(err, syscall.ECONNREFUSED), "%v", err)
	}
}

func connectAgain(t *T) {
	a, b := apart(t, ibv.QPTRC)
	for range 3 {
		dialled(t, a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{})
		message(t, a, b)
		require.NoError(t, a.ToReset())
		require.NoError(t, b.ToReset())
	}
}

// Who only receives learns by the byte stream that its peer has ended.
func connectWatched(t *T) {
	a, b := apart(t, ibv.QPTRC)
	_, atB := dialled(t, a, b, rdma.ConnectOptions{Watch: true}, rdma.ConnectOptions{Watch: true})
	b.Buffers(2, 64)
	a.Post(sends(t, a.Memory, 1, 8))
	t.Done(a.SendCQ, 1)
	require.NoError(t, a.QP.Close())
	select {
	case <-atB.Ended:
	case <-t.Context().Done():
		require.Fail(t, "nobody told")
	}
	wcs := t.Poll(b.RecvCQ, 2)
	require.Equal(t, ibv.WCSuccess, wcs[0].Status, "what came before stays")
	require.Equal(t, ibv.WCWRFlushErr, wcs[1].Status)
	state, err := b.State()
	require.NoError(t, err)
	require.Equal(t, ibv.QPSErr, state)
}

func connectIWARP(t *T) {
	if !t.provider.IWARP {
		a, b := apart(t, ibv.QPTRC)
		dialled(t, a, b, rdma.ConnectOptions{}, rdma.ConnectOptions{})
		return
	}
	a, b := t.Unconnected(PairOptions{})
	_, _, errA, errB := dial(t, a.QP, b.QP, rdma.ConnectOptions{}, rdma.ConnectOptions{})
	require.ErrorIs(t, errA, errors.ErrUnsupported)
	require.ErrorIs(t, errB, errors.ErrUnsupported)
}
