//go:build !freebsd

package inprocess

import (
	"fmt"
	"math"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/postforms"
)

// listLength is how many work requests are posted.
const listLength = 4

// Whatever way to refuse a work request a device has, each way to post tells what was accepted, or that nobody knows, and
// the reason. The list is as it was, and the rest can be posted.
func TestPostRefused(t *testing.T) {
	p := open(t)
	for _, form := range postforms.Forms {
		for _, result := range []ibvtest.ResultKind{ibvtest.PositiveErrno, ibvtest.NegativeErrno, ibvtest.MinusOne, ibvtest.Zero} {
			for _, bad := range []ibvtest.BadWRKind{ibvtest.BadWRRefused, ibvtest.BadWRUnset, ibvtest.BadWRNull, ibvtest.BadWRStale, ibvtest.BadWRForeign} {
				for at := range listLength {
					refusal := ibvtest.Refusal{Errno: syscall.EXDEV, Result: result, BadWR: bad}
					t.Run(fmt.Sprintf("%s/%v/%d", form.Name, refusal, at), func(t *testing.T) { p.testRefused(t, form, refusal, at) })
				}
			}
		}
	}
}

func (r *rig) testRefused(t *testing.T, form postforms.Form, refusal ibvtest.Refusal, at int) {
	all := []uint64{postforms.FirstID, postforms.FirstID + 1, postforms.FirstID + 2, postforms.FirstID + 3}
	list := form.List(t, r.Queues, listLength)
	r.forget(at, refusal)
	accepted, err := list.Post()
	list.Check()
	require.Equal(t, at+1, r.asked, "one call for one post")
	require.Equal(t, all[:at:at], append([]uint64{}, r.taken...))
	if !strings.Contains(form.Op, "shared") {
		require.Equal(t, all[:at:at], append([]uint64{}, r.flushed()...))
	}

	known, zero := refusal.BadWR == ibvtest.BadWRRefused, refusal.Result == ibvtest.Zero
	reason := refusal.Errno
	if zero {
		reason = syscall.ENOMEM // the device does not say
	}
	var failure *ibv.PostError
	switch {
	case zero && !known:
		require.NoError(t, err, "0 is a success, unless bad_wr points into the list")
	case known:
		require.Equal(t, at, accepted)
		require.ErrorAs(t, err, &failure)
		require.Equal(t, zero, failure.Unexplained)
	default:
		require.Equal(t, -1, accepted)
		require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.ErrorAs(t, err, &failure)
	}
	if failure != nil {
		require.ErrorIs(t, err, reason)
		require.Equal(t, form.Op, failure.Op)
	}

	r.forget(-1, refusal)
	accepted, err = list.Post()
	require.NoError(t, err)
	require.Equal(t, listLength, accepted)
	require.Equal(t, all, r.taken)
}

func TestPostToQPWithSRQ(t *testing.T) {
	p := open(t)
	chain := postforms.RecvChain(t, 3, 0)
	bad, err := p.SRQQP.PostRecv(chain.WR(0))
	require.Same(t, chain.WR(0), bad)
	errs := []error{err}
	n, err := chain.Post(p.SRQQP)
	require.Zero(t, n)
	errs = append(errs, err)
	n, err = chain.PostRange(p.SRQQP, 1, 3)
	require.Zero(t, n)
	for _, err := range append(errs, err) {
		require.ErrorIs(t, err, ibv.ErrSRQAttached)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
		require.ErrorContains(t, err, "post receive")
		require.ErrorContains(t, err, "SRQ")
	}
	require.Zero(t, p.asked, "the device must not be asked")
}

// A short post goes on where it stopped, until the queue has taken everything.
func TestRangeGoesOn(t *testing.T) {
	p := open(t)
	chain := postforms.RecvChain(t, 20, 0)
	var took []uint64
	for first, tries := 0, 0; first < chain.Len(); tries++ {
		require.Less(t, tries, 20)
		const room = 3
		p.forget(room, ibvtest.Refusal{Errno: syscall.ENOMEM})
		n, err := chain.PostRange(p.QP, first, chain.Len())
		if first+n < chain.Len() {
			require.ErrorIs(t, err, syscall.ENOMEM)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, p.taken, p.flushed())
		require.Len(t, p.taken, n)
		took = append(took, p.taken...)
		first += n
	}
	require.Len(t, took, 20)
	for i, id := range took {
		require.EqualValues(t, postforms.FirstID+i, id)
	}
}

func TestRangeOutOfBounds(t *testing.T) {
	p := open(t)
	recv, send := postforms.RecvChain(t, 3, 0), postforms.SendChain(t, 3, 0)
	for _, r := range [][2]int{{-1, 2}, {0, 4}, {2, 1}, {4, 4}, {-1, -1}, {3, 5}, {math.MinInt, math.MaxInt}, {math.MaxInt, math.MinInt}, {0, math.MaxInt}} {
		for op, post := range map[string]func(first, end int) (int, error){
			"post receive":        func(first, end int) (int, error) { return recv.PostRange(p.QP, first, end) },
			"post shared receive": func(first, end int) (int, error) { return recv.PostRange(p.SRQ, first, end) },
			"post send":           func(first, end int) (int, error) { return send.PostRange(p.QP, first, end) },
		} {
			n, err := post(r[0], r[1])
			require.Zero(t, n)
			require.ErrorIs(t, err, syscall.EINVAL)
			require.ErrorContains(t, err, fmt.Sprintf("%s %d to %d of a chain", op, r[0], r[1]))
			require.ErrorContains(t, err, "0 to 3")
		}
	}
	require.Zero(t, p.asked, "the device must not be asked")
}

func TestNoAllocationsForSRQAttached(t *testing.T) {
	p := open(t)
	chain, poster := postforms.RecvChain(t, 3, 0), p.SRQQP.RecvPoster()
	var errs [5]error
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, errs[0] = p.SRQQP.PostRecv(chain.WR(0))
		_, errs[1] = chain.Post(p.SRQQP)
		_, errs[2] = chain.PostRange(p.SRQQP, 0, 1)
		_, errs[3] = poster.Post(chain)
		_, errs[4] = poster.PostRange(chain, 1, 3)
	}))
	for _, err := range errs {
		require.ErrorIs(t, err, ibv.ErrSRQAttached)
	}
}
