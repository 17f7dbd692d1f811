package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var messages = []Scenario{
	{"messages", "RC sends arrive in order", "ibv_post_send(3), ibv_post_recv(3); IBTA 9.7.2", rcInOrder},
	{"messages", "immediate data arrives beside a message", "ibv_post_send(3), ibv_poll_cq(3); IBTA 9.2.4", sendImmediate},
}

func rcInOrder(t *T) {
	a, b := t.Pair(PairOptions{})
	const n, size = 8, 512
	b.Buffers(n, size)
	sends := t.Sends(n, 1)
	for i := range n {
		Fill(a.Slot(i, size), i)
		require.NoError(t, sends.Set(i, uint64(100+i), ibv.WRSend, ibv.SendSignaled, a.Memory.SGE(i*size, size-i)))
	}
	a.Post(sends)
	for i, wc := range t.Done(b.RecvCQ, n) {
		require.Equal(t, uint64(i), wc.WRID)
		require.Equal(t, ibv.WCRecv, wc.Opcode)
		require.EqualValues(t, size-i, wc.ByteLen)
		require.Equal(t, b.Number(), wc.QPNum)
		require.Zero(t, wc.WCFlags&ibv.WCWithImm)
		require.Equal(t, a.Slot(i, size)[:size-i], b.Slot(i, size)[:size-i])
		require.Equal(t, make([]byte, i), b.Slot(i, size)[size-i:], "behind the message")
	}
	for i, wc := range t.Done(a.SendCQ, n) {
		require.Equal(t, uint64(100+i), wc.WRID)
		require.Equal(t, ibv.WCSend, wc.Opcode)
		require.Equal(t, a.Number(), wc.QPNum)
	}
}

func sendImmediate(t *T) {
	t.Needs(ImmediateData)
	a, b := t.Pair(PairOptions{})
	const size = 64
	b.Buffers(1, size)
	Fill(a.Slot(0, size), 1)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.Set(0, 1, ibv.WRSendWithImm, ibv.SendSignaled, a.Memory.SGE(0, size)))
	sends.WR(0).SetImmData(ibv.ToBE32(0x01020384))
	a.Post(sends)
	wc := t.Done(b.RecvCQ, 1)[0]
	require.Equal(t, ibv.WCRecv, wc.Opcode)
	require.NotZero(t, wc.WCFlags&ibv.WCWithImm)
	require.Equal(t, uint32(0x01020384), wc.ImmData().Host())
	require.Equal(t, a.Slot(0, size), b.Slot(0, size))
	t.Done(a.SendCQ, 1)
}
