//go:build device

package device

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestImmediateDataAndInline(t *testing.T) {
	r := newRig(t)
	to := r.memory(1)
	sender, receiver := r.pair(4, 4)
	_, err := r.recvChain(1, to).Post(receiver.QP)
	require.NoError(t, err)
	// Inline data need no memory region, and are the caller's after the post.
	data := []byte("inline")
	buf, err := ibv.AllocBuffer(64)
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Free()) }()
	copy(buf, data)
	outside, err := r.pd.RegMR(buf, ibv.AccessLocalWrite)
	require.NoError(t, err)
	sge := outside.SGE(0, len(data))
	sge.LKey = 0
	require.NoError(t, outside.Close())
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(t, err)
	require.NoError(t, sends.Set(0, 9, ibv.WRSendWithImm, ibv.SendSignaled|ibv.SendInline, sge))
	sends.WR(0).SetImmData(ibv.ToBE32(0x01020304))
	_, err = sends.Post(sender.QP)
	require.NoError(t, err)
	wipe(buf, 0)
	wc := r.poll(receiver.recv, 1)[0]
	require.NotZero(t, wc.WCFlags&ibv.WCWithImm)
	require.Equal(t, uint32(0x01020304), wc.ImmData().Host())
	require.Equal(t, data, to.Bytes()[:wc.ByteLen])
	require.Equal(t, uint64(9), r.poll(sender.send, 1)[0].WRID)
}

func TestRDMAWriteAndRead(t *testing.T) {
	r := newRig(t)
	local, remote := r.memory(2), r.memory(1)
	sender, _ := r.pair(4, 4)
	fill(bytesOf(local, 0), 42)
	sends, err := ibv.NewSendChain(2, 1)
	require.NoError(t, err)
	require.NoError(t, sends.Set(0, 0, ibv.WRRDMAWrite, 0, local.SGE(0, slot)))
	require.NoError(t, sends.Set(1, 1, ibv.WRRDMARead, ibv.SendSignaled, local.SGE(slot, slot)))
	for i := range sends.Len() {
		*sends.WR(i).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: uint64(remote.Addr), RKey: remote.RKey}
	}
	_, err = sends.Post(sender.QP)
	require.NoError(t, err)
	require.Equal(t, ibv.WCRDMARead, r.poll(sender.send, 1)[0].Opcode)
	requireFilled(t, remote.Bytes(), slot, 42, 0)
	requireFilled(t, bytesOf(local, 1), slot, 42, 0)
}

func TestScatterGather(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(1), r.memory(1)
	sender, receiver := r.pair(4, 4)
	recvs, err := ibv.NewRecvChain(1, 3)
	require.NoError(t, err)
	require.NoError(t, recvs.Set(0, 5, to.SGE(0, 8), to.SGE(100, 8), to.SGE(200, 100)))
	require.Len(t, recvs.WR(0).SGEs(), 3)
	sends, err := ibv.NewSendChain(1, 2)
	require.NoError(t, err)
	require.NoError(t, sends.Set(0, 6, ibv.WRSend, ibv.SendSignaled, from.SGE(0, 12), from.SGE(500, 12)))
	for i := range 12 {
		from.Bytes()[i], from.Bytes()[500+i] = byte(i+1), byte(i+13)
	}
	_, err = recvs.Post(receiver.QP)
	require.NoError(t, err)
	_, err = sends.Post(sender.QP)
	require.NoError(t, err)
	wc := r.poll(receiver.recv, 1)[0]
	require.Equal(t, uint32(24), wc.ByteLen)
	require.Equal(t, binary.LittleEndian.Uint64(to.Bytes()), uint64(0x0807060504030201))
	require.Equal(t, binary.LittleEndian.Uint64(to.Bytes()[100:]), uint64(0x100f0e0d0c0b0a09))
	require.Equal(t, binary.LittleEndian.Uint64(to.Bytes()[200:]), uint64(0x1817161514131211))
}

func TestCompletionWithError(t *testing.T) {
	r := newRig(t)
	from, to := r.memory(1), r.memory(1)
	sender, receiver := r.pair(4, 4)
	recvs := r.recvChain(1, to)
	require.NoError(t, recvs.Set(0, 77, to.SGE(0, 4)))
	_, err := recvs.Post(receiver.QP)
	require.NoError(t, err)
	_, err = r.sendChain(1, from, func(int) int { return 100 }).Post(sender.QP)
	require.NoError(t, err)
	wc := r.pollAny(receiver.recv, 1)[0]
	// This is what rxe calls a message that is too long; others say LOC_LEN_ERR.
	require.Equal(t, ibv.WCLocQPOpErr, wc.Status)
	require.ErrorContains(t, wc.Err(), "0x4d")
	require.ErrorContains(t, wc.Err(), "IBV_WC_LOC_QP_OP_ERR")
	_, err = wc.UDPayload(to.Bytes())
	require.Error(t, err)
	require.Equal(t, ibv.WCRemOpErr, r.pollAny(sender.send, 1)[0].Status)
}
