package ibv_test

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A form is one of the ways to post a list of work requests.
type form struct {
	name string
	op   string // what errors call it
	// list makes a list of n work requests, numbered from 100.
	list func(t testing.TB, p *provider, n int) posted
}

// posted is a list made for a form.
type posted struct {
	object any // what C sees it posted to
	first  uint64
	// post posts it. accepted is -1 when the index is not known.
	post func() (accepted int, err error)
	// check requires that the list is as it was made.
	check func()
}

var forms = []form{
	{"QP.PostRecv", "post receive", func(t testing.TB, p *provider, n int) posted {
		return recvList(t, n, p.QP, p.QP.PostRecv)
	}},
	{"SRQ.PostRecv", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		return recvList(t, n, p.SRQ, p.SRQ.PostRecv)
	}},
	{"QP.PostSend", "post send", func(t testing.TB, p *provider, n int) posted {
		return sendList(t, n, p.QP, p.QP.PostSend)
	}},
	{"QP.PostSend with an SRQ", "post send", func(t testing.TB, p *provider, n int) posted {
		return sendList(t, n, p.SRQQP, p.SRQQP.PostSend)
	}},
	{"RecvChain.Post", "post receive", func(t testing.TB, p *provider, n int) posted {
		c := recvChain(t, n, 0)
		return recvPosted(t, c, p.QP, 0, n, func() (int, error) { return c.Post(p.QP) })
	}},
	{"RecvChain.PostRange", "post receive", func(t testing.TB, p *provider, n int) posted {
		c := recvChain(t, n+5, 2)
		return recvPosted(t, c, p.QP, 2, n+5, func() (int, error) { return c.PostRange(p.QP, 2, 2+n) })
	}},
	{"RecvChain.PostSRQ", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		c := recvChain(t, n, 0)
		return recvPosted(t, c, p.SRQ, 0, n, func() (int, error) { return c.PostSRQ(p.SRQ) })
	}},
	{"RecvChain.PostRange to an SRQ", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		c := recvChain(t, n+5, 2)
		return recvPosted(t, c, p.SRQ, 2, n+5, func() (int, error) { return c.PostRange(p.SRQ, 2, 2+n) })
	}},
	{"SendChain.Post", "post send", func(t testing.TB, p *provider, n int) posted {
		c := sendChain(t, n, 0)
		return sendPosted(t, c, p.QP, 0, n, func() (int, error) { return c.Post(p.QP) })
	}},
	{"SendChain.PostRange", "post send", func(t testing.TB, p *provider, n int) posted {
		c := sendChain(t, n+5, 2)
		return sendPosted(t, c, p.SRQQP, 2, n+5, func() (int, error) { return c.PostRange(p.SRQQP, 2, 2+n) })
	}},
	{"QP.RecvPoster", "post receive", func(t testing.TB, p *provider, n int) posted {
		c, poster := recvChain(t, n, 0), p.QP.RecvPoster()
		return recvPosted(t, c, p.QP, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"QP.RecvPoster of a range", "post receive", func(t testing.TB, p *provider, n int) posted {
		c, poster := recvChain(t, n+5, 2), p.QP.RecvPoster()
		return recvPosted(t, c, p.QP, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"SRQ.RecvPoster", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		c, poster := recvChain(t, n, 0), p.SRQ.RecvPoster()
		return recvPosted(t, c, p.SRQ, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"SRQ.RecvPoster of a range", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		c, poster := recvChain(t, n+5, 2), p.SRQ.RecvPoster()
		return recvPosted(t, c, p.SRQ, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"QP.SendPoster", "post send", func(t testing.TB, p *provider, n int) posted {
		c, poster := sendChain(t, n, 0), p.SRQQP.SendPoster()
		return sendPosted(t, c, p.SRQQP, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"QP.SendPoster of a range", "post send", func(t testing.TB, p *provider, n int) posted {
		c, poster := sendChain(t, n+5, 2), p.QP.SendPoster()
		return sendPosted(t, c, p.QP, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"RecvChain.PostPicked", "post receive", func(t testing.TB, p *provider, n int) posted {
		c, picks := recvChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(firstID + k)
		}
		return recvPosted(t, c, p.QP, picks[0], n+5, func() (int, error) { return c.PostPicked(p.QP, picks) })
	}},
	{"RecvChain.PostPicked to an SRQ", "post shared receive", func(t testing.TB, p *provider, n int) posted {
		c, picks := recvChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(firstID + k)
		}
		return recvPosted(t, c, p.SRQ, picks[0], n+5, func() (int, error) { return c.PostPicked(p.SRQ, picks) })
	}},
	{"SendChain.PostPicked", "post send", func(t testing.TB, p *provider, n int) posted {
		c, picks := sendChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(firstID + k)
		}
		return sendPosted(t, c, p.QP, picks[0], n+5, func() (int, error) { return c.PostPicked(p.QP, picks) })
	}},
}

// pick picks n of n+5 work requests, the last and the first among them, in no
// order.
func pick(n int) []int {
	picks := []int{n + 4, 0}
	for i := range n - 2 {
		picks = append(picks, 2+(i*3)%(n+2))
	}
	return picks[:n]
}

const firstID = 100

func recvList(t testing.TB, n int, object any, post func(*ibv.RecvWR) (*ibv.RecvWR, error)) posted {
	wrs := make([]ibv.RecvWR, n)
	for i := range wrs {
		wrs[i].WRID = firstID + uint64(i)
		if i+1 < n {
			wrs[i].Next = &wrs[i+1]
		}
	}
	head := &wrs[0]
	return posted{object, addressOf(head), func() (int, error) {
		bad, err := post(head)
		for i := range wrs {
			if &wrs[i] == bad {
				return i, err
			}
		}
		if bad != nil {
			t.Error("the work request returned is not in the list")
		}
		if err == nil {
			return n, nil
		}
		return -1, err
	}, func() {
		i := 0
		for wr := range head.All() {
			require.Same(t, &wrs[i], wr)
			i++
		}
		require.Equal(t, n, i)
	}}
}

func sendList(t testing.TB, n int, object any, post func(*ibv.SendWR) (*ibv.SendWR, error)) posted {
	wrs := make([]ibv.SendWR, n)
	for i := range wrs {
		wrs[i].WRID = firstID + uint64(i)
		if i+1 < n {
			wrs[i].Next = &wrs[i+1]
		}
	}
	head := &wrs[0]
	return posted{object, addressOf(head), func() (int, error) {
		bad, err := post(head)
		for i := range wrs {
			if &wrs[i] == bad {
				return i, err
			}
		}
		if bad != nil {
			t.Error("the work request returned is not in the list")
		}
		if err == nil {
			return n, nil
		}
		return -1, err
	}, func() {
		i := 0
		for wr := range head.All() {
			require.Same(t, &wrs[i], wr)
			i++
		}
		require.Equal(t, n, i)
	}}
}

// recvChain is a chain of n whose work request first has the first number.
func recvChain(t testing.TB, n, first int) *ibv.RecvChain {
	c, err := ibv.NewRecvChain(n, 2)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, c.Set(i, uint64(firstID+i-first), ibv.SGE{Addr: uint64(i), Length: 7, LKey: 8}))
	}
	return c
}

func sendChain(t testing.TB, n, first int) *ibv.SendChain {
	c, err := ibv.NewSendChain(n, 2)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, c.Set(i, uint64(firstID+i-first), ibv.WRSend, 0, ibv.SGE{Addr: uint64(i), Length: 7, LKey: 8}))
	}
	return c
}

func recvPosted(t testing.TB, c *ibv.RecvChain, object any, first, whole int, post func() (int, error)) posted {
	return posted{object, addressOf(c.WR(first)), post, func() {
		require.Equal(t, whole, c.Len())
		for i := range whole {
			wr := c.WR(i)
			if i+1 < whole {
				require.Same(t, c.WR(i+1), wr.Next, "link %d", i)
			} else {
				require.Nil(t, wr.Next)
			}
			require.Equal(t, []ibv.SGE{{Addr: uint64(i), Length: 7, LKey: 8}}, wr.SGEs())
		}
	}}
}

func sendPosted(t testing.TB, c *ibv.SendChain, object any, first, whole int, post func() (int, error)) posted {
	return posted{object, addressOf(c.WR(first)), post, func() {
		require.Equal(t, whole, c.Len())
		for i := range whole {
			wr := c.WR(i)
			if i+1 < whole {
				require.Same(t, c.WR(i+1), wr.Next, "link %d", i)
			} else {
				require.Nil(t, wr.Next)
			}
			require.Equal(t, []ibv.SGE{{Addr: uint64(i), Length: 7, LKey: 8}}, wr.SGEs())
		}
	}}
}

// listLength is how many work requests are posted where nothing else is said.
const listLength = 4

const unknown = -1 // for how many were accepted

// outcome is a way for a provider to answer, and what it means.
type outcome struct {
	name        string
	script      script
	accepted    int
	errno       syscall.Errno // 0 for success
	unexplained bool
}

// outcomes are the ways that providers answer a post.
func outcomes() []outcome {
	const n = listLength
	list := []outcome{
		{"success, bad_wr untouched", script{Room: all}, n, 0, false},
		{"success, bad_wr NULL", script{Room: all, Bad: null}, n, 0, false},
		{"success, bad_wr outside the list", script{Room: all, Bad: outside}, n, 0, false},
		{"success, bad_wr within a work request", script{Room: all, Bad: inside, BadIndex: 1}, n, 0, false},
		{"success, bad_wr stale", script{Room: all, Bad: stale}, n, 0, false},
		{"success, errno left over", script{Room: all, Errno: syscall.EIO}, n, 0, false},
	}
	// A queue pair that is in the wrong state, or a doorbell that failed, is
	// refused without a word on the work request.
	for _, bad := range []struct {
		name string
		bad  badWR
	}{{"untouched", untouched}, {"NULL", null}, {"outside the list", outside}, {"within a work request", inside}, {"stale", stale}} {
		for _, result := range refusals {
			list = append(list, outcome{result.name + ", bad_wr " + bad.name,
				script{Room: 2, Result: result.result, Errno: result.left, Bad: bad.bad, BadIndex: 1}, unknown, result.errno, false})
		}
	}
	for _, k := range []int{0, 1, n - 1} {
		for _, result := range refusals {
			list = append(list, outcome{fmt.Sprintf("%s at work request %d", result.name, k),
				script{Room: k, Result: result.result, Errno: result.left, Bad: element, BadIndex: k}, k, result.errno, false})
		}
		// siw's doorbell overwrites the refusal.
		list = append(list, outcome{fmt.Sprintf("0 at work request %d", k),
			script{Room: k, Errno: syscall.EIO, Bad: element, BadIndex: k}, k, syscall.ENOMEM, true})
	}
	return list
}

// refusals are the results that providers give.
var refusals = []struct {
	name   string
	result int32
	left   syscall.Errno // in errno
	errno  syscall.Errno // the meaning
}{
	{"ENOMEM", int32(syscall.ENOMEM), 0, syscall.ENOMEM},
	{"EINVAL, errno left over", int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
	{"-ENOMEM", -int32(syscall.ENOMEM), 0, syscall.ENOMEM},
	{"-EINVAL, errno left over", -int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
	{"-EIO", -int32(syscall.EIO), 0, syscall.EIO},
	{"EPERM", int32(syscall.EPERM), syscall.EIO, syscall.EPERM},
	{"-1, ENOMEM in errno", -1, syscall.ENOMEM, syscall.ENOMEM},
	{"-1, nothing in errno", -1, 0, syscall.EIO},
	{"-1, nonsense in errno", -1, 0xfffffff0, 0xfffffff0},
	{"the last errno that Linux has", 133, 0, 133},
	{"an errno that Linux does not have", 134, 0, 134},
	{"largest result", math.MaxInt32, 0, math.MaxInt32},
	{"smallest result", math.MinInt32, 0, -math.MinInt32},
}

func TestPost(t *testing.T) {
	p := newProvider(t, wholeContext)
	for _, f := range forms {
		for _, o := range outcomes() {
			t.Run(f.name+"/"+o.name, func(t *testing.T) {
				p := *p
				p.T = t
				p.Play(script{Room: all})
				previous := f.list(t, &p, 3)
				n, err := previous.post()
				require.NoError(t, err)
				require.Equal(t, 3, n)

				list := f.list(t, &p, listLength)
				p.Play(o.script)
				got, err := list.post()
				list.check()
				require.Equal(t, o.accepted, got)
				requirePostError(t, err, f.op, o)

				took := listLength
				if o.script.Room != all {
					took = o.script.Room
				}
				require.Equal(t, 1, p.Saw(calls), "one call for one post")
				require.Equal(t, took, p.Saw(accepted), "the provider must see the list as it is")
				require.Zero(t, p.Saw(badBefore), "the out-slot must be clear before the call")
				require.Equal(t, pointerOf(list.object), uintptr(p.Saw(theObject)))
				for i := range took {
					require.EqualValues(t, firstID+i, p.SawWR(i).WRID)
				}
				if took > 0 {
					require.Equal(t, list.first, p.SawWR(0).Address, "no copy")
				}
				if o.script.Room == all {
					require.Zero(t, p.SawWR(listLength-1).Next, "the list must end")
				}
				// Going on from there posts the rest of a chain, which is whole.
				p.Play(script{Room: all})
				again, err := list.post()
				require.NoError(t, err)
				require.Equal(t, listLength, again)
			})
		}
	}
}

func requirePostError(t *testing.T, err error, op string, o outcome) {
	t.Helper()
	if o.errno == 0 {
		require.NoError(t, err)
		return
	}
	require.Error(t, err)
	require.ErrorIs(t, err, o.errno)
	var post *ibv.PostError
	require.True(t, errors.As(err, &post))
	require.Equal(t, &ibv.PostError{Op: op, Errno: o.errno, Result: o.script.Result, AcceptedUnknown: o.accepted == unknown, Unexplained: o.unexplained}, post)
	require.Equal(t, o.accepted == unknown, errors.Is(err, ibv.ErrAcceptedUnknown))
	require.Contains(t, err.Error(), "ibv: "+op+": "+o.errno.Error())
}

// pointerOf is the address of an object of the provider's.
func pointerOf(object any) uintptr {
	switch o := object.(type) {
	case *ibv.QP:
		return uintptr(unsafe.Pointer(o))
	case *ibv.SRQ:
		return uintptr(unsafe.Pointer(o))
	}
	panic("no such object")
}

// Whatever the provider would say, an empty list is a success: providers differ.
func TestPostNothing(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Result: int32(syscall.EINVAL)})
	for _, qp := range []*ibv.QP{p.QP, p.SRQQP} {
		bad, err := qp.PostRecv(nil)
		require.NoError(t, err)
		require.Nil(t, bad)
		badSend, err := qp.PostSend(nil)
		require.NoError(t, err)
		require.Nil(t, badSend)
	}
	bad, err := p.SRQ.PostRecv(nil)
	require.NoError(t, err)
	require.Nil(t, bad)

	recv, send := recvChain(t, 3, 0), sendChain(t, 3, 0)
	for at := range 4 {
		for name, post := range map[string]func() (int, error){
			"RecvChain.PostRange":               func() (int, error) { return recv.PostRange(p.QP, at, at) },
			"RecvChain.PostRange, QP with SRQ":  func() (int, error) { return recv.PostRange(p.SRQQP, at, at) },
			"RecvChain.PostRange to an SRQ":     func() (int, error) { return recv.PostRange(p.SRQ, at, at) },
			"SendChain.PostRange":               func() (int, error) { return send.PostRange(p.QP, at, at) },
			"RecvChain.Post, the zero chain":    func() (int, error) { return new(ibv.RecvChain).Post(p.QP) },
			"RecvChain.PostSRQ, the zero chain": func() (int, error) { return new(ibv.RecvChain).PostSRQ(p.SRQ) },
			"SendChain.Post, the zero chain":    func() (int, error) { return new(ibv.SendChain).Post(p.QP) },
		} {
			accepted, err := post()
			require.NoError(t, err, name)
			require.Zero(t, accepted, name)
		}
	}
	require.Zero(t, p.Saw(calls), "the provider must not be asked")
}

func TestPostToQPWithSRQ(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Room: all})
	chain := recvChain(t, 3, 0)
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
	require.Zero(t, p.Saw(calls), "the provider must not be asked")
}

// What is in the chain but was not posted was not refused either.
func TestRangeAndTheRestOfTheChain(t *testing.T) {
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 10, 0), sendChain(t, 10, 0)
	for name, post := range map[string]func(first, end int) (int, error){
		"RecvChain.PostRange":           func(first, end int) (int, error) { return recv.PostRange(p.QP, first, end) },
		"RecvChain.PostRange to an SRQ": func(first, end int) (int, error) { return recv.PostRange(p.SRQ, first, end) },
		"SendChain.PostRange":           func(first, end int) (int, error) { return send.PostRange(p.QP, first, end) },
	} {
		for _, before := range []int{0, 2} {
			p.Play(script{Room: all})
			_, err := post(before, 10) // so that this is what a stale pointer points to
			require.NoError(t, err)
			p.Play(script{Result: int32(syscall.EINVAL), Bad: stale})
			n, err := post(3, 6)
			require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, name)
			require.Equal(t, unknown, n)

			p.Play(script{Room: all})
			_, err = post(before+6, 10)
			require.NoError(t, err)
			p.Play(script{Room: all, Bad: stale})
			n, err = post(3, 6)
			require.NoError(t, err, name)
			require.Equal(t, 3, n)
		}
	}
}

// A short post goes on where it stopped, until the queue has taken everything.
func TestRangeGoesOn(t *testing.T) {
	p := newProvider(t, wholeContext)
	chain := recvChain(t, 20, 0)
	var took []uint64
	for first, tries := 0, 0; first < chain.Len(); tries++ {
		require.Less(t, tries, 20)
		room := 3
		s := script{Room: room}
		if chain.Len()-first > room {
			s.Result, s.Bad, s.BadIndex = int32(syscall.ENOMEM), element, room
		}
		p.Play(s)
		n, err := chain.PostRange(p.QP, first, chain.Len())
		if s.Result != 0 {
			require.ErrorIs(t, err, syscall.ENOMEM)
		} else {
			require.NoError(t, err)
		}
		require.Equal(t, p.Saw(accepted), n)
		for i := range n {
			took = append(took, p.SawWR(i).WRID)
		}
		first += n
	}
	require.Len(t, took, 20)
	for i, id := range took {
		require.EqualValues(t, firstID+i, id)
	}
}

func TestRangeOutOfBounds(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Room: all})
	recv, send := recvChain(t, 3, 0), sendChain(t, 3, 0)
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
	require.Zero(t, p.Saw(calls), "the provider must not be asked")
}
