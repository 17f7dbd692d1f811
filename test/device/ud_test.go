//go:build device

package device

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

func TestUD(t *testing.T) {
	const qkey = 0x11223344
	r := newRig(t)
	require.True(t, r.gid.GID.Addr().Is4In6(), "the device has an IPv4 address: %v", &r.gid.GID)
	sender, receiver := r.side(ibv.QPTUD, 4, 1, nil), r.side(ibv.QPTUD, 1, 4, nil)
	for _, qp := range []side{sender, receiver} {
		r.connectUD(qp.QP, qkey)
	}
	ah, err := r.pd.CreateAHTo(port, r.gid.GIDIndex, r.gid.GID)
	require.NoError(t, err)
	defer func() { require.NoError(t, ah.Close()) }()
	from, to := r.memory(1), r.memory(1)
	recvs, sends := r.recvChain(1, to), r.sendChain(1, from, func(int) int { return 0 })
	require.Equal(t, ibv.MTU1024, r.mtu)
	for i, length := range []int{0, 1, 100, 1024 - ibv.GRHLength} {
		t.Run(fmt.Sprint(length), func(t *testing.T) {
			wipe(to.Bytes(), 0xee)
			fill(bytesOf(from, 0)[:length], uint64(i))
			require.NoError(t, sends.Set(0, 1, ibv.WRSend, ibv.SendSignaled, from.SGE(0, length)))
			*sends.WR(0).WR.UD() = ibv.SendWRWRUD{AH: ibv.ToPtr(ah), RemoteQPN: receiver.QPNum, RemoteQKey: qkey}
			_, err := recvs.Post(receiver.QP)
			require.NoError(t, err)
			_, err = sends.Post(sender.QP)
			require.NoError(t, err)
			wc := r.poll(receiver.recv, 1)[0]
			require.Equal(t, uint32(ibv.GRHLength+length), wc.ByteLen)
			require.Equal(t, sender.QPNum, wc.SrcQP)
			require.NotZero(t, wc.WCFlags&ibv.WCGRH)
			payload, err := wc.UDPayload(to.Bytes())
			require.NoError(t, err)
			require.Len(t, payload, length)
			require.Same(t, &to.Bytes()[:ibv.GRHLength+1][ibv.GRHLength], &payload[:1][0], "the payload is where it was written")
			requireFilled(t, to.Bytes()[ibv.GRHLength:], length, uint64(i), 0xee)
			// Over IPv4 the header of the packet is in the last 20 of the 40 bytes.
			require.Equal(t, byte(0x45), to.Bytes()[20])
			require.Equal(t, r.gid.GID.Addr().Unmap().AsSlice(), to.Bytes()[32:36], "from")
			require.Equal(t, r.gid.GID.Addr().Unmap().AsSlice(), to.Bytes()[36:40], "to")
			header, ok := wc.UDHeader(to.Bytes())
			require.True(t, ok)
			require.Equal(t, to.Bytes()[24:40], header.DGID.Raw()[:])
			r.poll(sender.send, 1)
		})
	}
}
