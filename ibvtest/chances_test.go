//go:build !freebsd

package ibvtest_test

import (
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// arrival is a datagram, and how long it took.
type arrival struct {
	id   uint32
	took time.Duration
}

// datagrams sends a hundred datagrams from each of two queue pairs to a third one, and tells what arrives.
func datagrams(t *testing.T, opts ...ibvtest.Option) (arrived []arrival) {
	synctest.Test(t, func(t *testing.T) {
		const n = 100
		r := newRig(t, opts...)
		to := r.qpOf(ibv.QPTUD, ibv.QPCap{MaxRecvWR: 4 * n, MaxRecvSGE: 1})
		at, err := r.dev.CreateCQ(4, rdma.CQOptions{})
		require.NoError(t, err)
		memory, err := r.pd.AllocRegion(64, rdma.RegionOptions{})
		require.NoError(t, err)
		recv, err := ibv.NewRecvChain(4*n, 1)
		require.NoError(t, err)
		for i := range recv.Len() {
			require.NoError(t, recv.Set(i, uint64(i), memory.SGE(0, 64)))
		}
		require.NoError(t, to.ToRTRUD())
		_, err = to.PostRecv(recv)
		require.NoError(t, err)
		gid, err := r.dev.Raw().BestGID(1)
		require.NoError(t, err)
		ah, err := r.pd.CreateAH(rdma.AHOptions{GID: gid.GID})
		require.NoError(t, err)
		start := time.Now()
		for k := range uint32(2) {
			from := r.qpOn(at, ibv.QPTUD, ibv.QPCap{MaxSendWR: n, MaxSendSGE: 1})
			require.NoError(t, from.ToRTRUD())
			require.NoError(t, from.ToRTSUD(0))
			send, err := ibv.NewSendChain(n, 1)
			require.NoError(t, err)
			for i := range uint32(n) {
				require.NoError(t, send.SetUD(int(i), 0, ibv.WRSendWithImm, 0, memory.SGE(0, 8), ah.Raw(), to.Number(), rdma.DefaultQKey))
				send.WR(int(i)).SetImmData(ibv.ToBE32(k<<16 | i))
			}
			_, err = from.PostSend(send)
			require.NoError(t, err)
		}
		for range 1000 {
			time.Sleep(time.Millisecond)
			wcs := make([]ibv.WC, 256)
			n, err := r.cq.Poll(wcs)
			require.NoError(t, err)
			for _, wc := range wcs[:n] {
				require.NoError(t, wc.Err())
				arrived = append(arrived, arrival{wc.ImmData().Host(), time.Since(start)})
			}
		}
	})
	return arrived
}

// What is by chance is drawn from the seed, and is what was asked for: some datagrams are lost, some come twice, those of
// a queue pair stay in order, and those of two do not.
func TestChances(t *testing.T) {
	all := func(seed uint64) []arrival {
		return datagrams(t, ibvtest.Seed(seed), ibvtest.Delay(0, time.Millisecond), ibvtest.Loss(0.3), ibvtest.Doubles(0.3))
	}
	first := all(1)
	require.Equal(t, first, all(1))
	require.NotEqual(t, first, all(2))
	var ids []uint32
	for _, a := range first {
		ids = append(ids, a.id)
	}
	twice := len(ids) - len(slices.Compact(slices.Sorted(slices.Values(ids))))
	require.InDelta(t, 140, len(ids)-twice, 30, "200 datagrams, of which 3 in 10 are lost")
	require.InDelta(t, 42, twice, 25, "of the rest, 3 in 10 come twice")
	require.False(t, slices.IsSorted(ids), "the two queue pairs' are mixed")
	for k := range uint32(2) {
		own := slices.DeleteFunc(slices.Clone(ids), func(id uint32) bool { return id>>16 != k })
		require.True(t, slices.IsSorted(own), "one queue pair's are in order")
	}
}

// Without chances, all datagrams arrive at once and in order.
func TestNoChances(t *testing.T) {
	arrived := datagrams(t)
	require.Len(t, arrived, 200)
	for i, a := range arrived {
		require.Equal(t, arrival{uint32(i/100<<16 | i%100), time.Millisecond}, a)
	}
}

// told is a test that fails, and what it says.
type told struct {
	*testing.T
	text string
	end  func()
}

func (t *told) Failed() bool                      { return true }
func (t *told) Cleanup(end func())                { t.end = end }
func (t *told) Logf(format string, args ...any)   { t.text += fmt.Sprintf(format, args...) }
func (t *told) Errorf(format string, args ...any) { t.Logf(format, args...) }

// A test that fails says the seed, which the environment can have too.
func TestSeedIsTold(t *testing.T) {
	t.Setenv("GOVERBS_SEED", "77")
	for want, opts := range map[string][]ibvtest.Option{
		"GOVERBS_SEED=77":  {ibvtest.Loss(0.5)},
		"ibvtest.Seed(78)": {ibvtest.Loss(0.5), ibvtest.Seed(78)},
		"":                 {ibvtest.Seed(79)}, // of which nothing is drawn
	} {
		failing := &told{T: t}
		f := ibvtest.New(failing, opts...)
		r := openRig(t, f, 0)
		a, b := r.qp(ibv.QPTUC), r.qp(ibv.QPTUC)
		connect(t, a, b)
		_, err := a.Raw().PostSend(&ibv.SendWR{})
		require.NoError(t, err)
		failing.end()
		require.Equal(t, want == "", failing.text == "")
		require.Contains(t, failing.text, want)
	}
}

// Options that cannot be fail the test, say why, and change nothing.
func TestWrongOptions(t *testing.T) {
	for name, opt := range map[string]ibvtest.Option{
		"Devices(0)":      ibvtest.Devices(0),
		"Devices(-1)":     ibvtest.Devices(-1),
		"Loss(7)":         ibvtest.Loss(7),
		"Loss(NaN)":       ibvtest.Loss(math.NaN()),
		"Doubles(-0.5)":   ibvtest.Doubles(-0.5),
		"Delay(1s, 0s)":   ibvtest.Delay(time.Second, 0),
		"Delay(-1ns, 1s)": ibvtest.Delay(-1, time.Second),
	} {
		failing := &told{T: t}
		f := ibvtest.New(failing, opt)
		require.Contains(t, failing.text, "ibvtest: "+name+": ")
		require.Len(t, f.Names(), 1)
		failing.end()
	}
	for _, p := range []float64{0, 1} {
		ibvtest.New(t, ibvtest.Loss(p), ibvtest.Doubles(p), ibvtest.Delay(0, 0), ibvtest.Devices(3))
	}
}

// What is still open of a fabric when its test is over fails from then on, but for what closes.
func TestEndOfFabric(t *testing.T) {
	over := &told{T: t}
	f := ibvtest.New(over)
	r := openRig(t, f, 0)
	over.end()
	_, err := r.dev.AllocPD()
	require.ErrorIs(t, err, syscall.EIO)
	require.NoError(t, r.pd.Close())
}
