package ibv_test

import (
	"fmt"
	"math"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// Every field is where C writes it, and what C leaves alone stays.
func TestPoll(t *testing.T) {
	p := newProvider(t, wholeContext)
	for _, tt := range []struct{ room, completions, want int }{
		{1, 0, 0}, {4, 0, 0}, {4, 3, 3}, {4, 4, 4}, {4, 9, 4}, {1, 1, 1},
	} {
		p.Play(script{Completions: tt.completions, Errno: syscall.EIO})
		wcs := make([]ibv.WC, tt.room)
		n, err := p.CQ.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, tt.want, n)
		require.Equal(t, 1, p.Saw(calls))
		require.Equal(t, tt.room, p.Saw(polled))
		require.EqualValues(t, addressOf(p.CQ), p.Saw(theObject))
		require.Equal(t, ccall.Direct(), addressOf(&wcs[0]) == uint64(p.Saw(theList)), "no copy but on the portable way")
		for i := range wcs {
			want := ibv.WC{}
			if i < n {
				want = ibv.WC{
					WRID:         0x1122334455667700 + uint64(i),
					Status:       ibv.WCRemOpErr,
					Opcode:       ibv.WCRecvRDMAWithImm,
					VendorErr:    0x21222324,
					ByteLen:      0x31323334,
					QPNum:        0x515253,
					SrcQP:        0x616263,
					WCFlags:      ibv.WCGRH | ibv.WCWithImm,
					PKeyIndex:    0x7172,
					SLID:         0x8182,
					SL:           0x91,
					DLIDPathBits: 0xa1,
				}
				want.SetImmData(ibv.ToBE32(0x41424344))
				require.EqualValues(t, 0x41424344, wcs[i].ImmData().Host())
			}
			require.Equal(t, want, wcs[i])
		}
	}
}

func TestPollFails(t *testing.T) {
	p := newProvider(t, wholeContext)
	for _, tt := range []struct {
		result int32
		errno  syscall.Errno
		want   syscall.Errno
	}{
		{-1, syscall.EIO, syscall.EIO},
		{-1, syscall.EINVAL, syscall.EINVAL},
		{-1, 0, syscall.EIO},
		{-2, syscall.EINVAL, syscall.EIO}, // a code of mlx5's own, and not ENOENT
		{-int32(syscall.EINVAL), 0, syscall.EIO},
		{math.MinInt32, 0, syscall.EIO},
	} {
		p.Play(script{Result: tt.result, Errno: tt.errno})
		n, err := p.CQ.Poll(make([]ibv.WC, 2))
		require.Zero(t, n)
		require.ErrorIs(t, err, tt.want)
		require.ErrorContains(t, err, "poll completion queue on scripted0")
		if tt.result < -1 {
			require.ErrorContains(t, err, fmt.Sprintf("the provider returned %d; ", tt.result))
		}
	}
}
