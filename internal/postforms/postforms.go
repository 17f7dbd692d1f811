// Package postforms has, for tests, each way to post a list of work requests.
package postforms

import (
	"iter"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Queues is what lists are posted to. SRQQP has SRQ for its receive queue.
type Queues struct {
	QP, SRQQP *ibv.QP
	SRQ       *ibv.SRQ
}

// A Form is one of the ways to post a list of work requests.
type Form struct {
	Name string
	Op   string // what errors call it
	// List makes a list of n work requests, numbered from FirstID.
	List func(t testing.TB, p Queues, n int) Posted
}

// Posted is a list made for a form.
type Posted struct {
	Object any    // what it is posted to
	First  uint64 // the address of its first work request
	// Post posts it. accepted is -1 when the index is not known.
	Post func() (accepted int, err error)
	// Check requires that the list is as it was made.
	Check func()
}

// Forms are all of them.
var Forms = []Form{
	{"QP.PostRecv", "post receive", func(t testing.TB, p Queues, n int) Posted {
		return recvList(t, n, p.QP, p.QP.PostRecv)
	}},
	{"SRQ.PostRecv", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		return recvList(t, n, p.SRQ, p.SRQ.PostRecv)
	}},
	{"QP.PostSend", "post send", func(t testing.TB, p Queues, n int) Posted {
		return sendList(t, n, p.QP, p.QP.PostSend)
	}},
	{"QP.PostSend with an SRQ", "post send", func(t testing.TB, p Queues, n int) Posted {
		return sendList(t, n, p.SRQQP, p.SRQQP.PostSend)
	}},
	{"RecvChain.Post", "post receive", func(t testing.TB, p Queues, n int) Posted {
		c := RecvChain(t, n, 0)
		return recvPosted(t, c, p.QP, 0, n, func() (int, error) { return c.Post(p.QP) })
	}},
	{"RecvChain.PostRange", "post receive", func(t testing.TB, p Queues, n int) Posted {
		c := RecvChain(t, n+5, 2)
		return recvPosted(t, c, p.QP, 2, n+5, func() (int, error) { return c.PostRange(p.QP, 2, 2+n) })
	}},
	{"RecvChain.PostSRQ", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		c := RecvChain(t, n, 0)
		return recvPosted(t, c, p.SRQ, 0, n, func() (int, error) { return c.PostSRQ(p.SRQ) })
	}},
	{"RecvChain.PostRange to an SRQ", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		c := RecvChain(t, n+5, 2)
		return recvPosted(t, c, p.SRQ, 2, n+5, func() (int, error) { return c.PostRange(p.SRQ, 2, 2+n) })
	}},
	{"SendChain.Post", "post send", func(t testing.TB, p Queues, n int) Posted {
		c := SendChain(t, n, 0)
		return sendPosted(t, c, p.QP, 0, n, func() (int, error) { return c.Post(p.QP) })
	}},
	{"SendChain.PostRange", "post send", func(t testing.TB, p Queues, n int) Posted {
		c := SendChain(t, n+5, 2)
		return sendPosted(t, c, p.SRQQP, 2, n+5, func() (int, error) { return c.PostRange(p.SRQQP, 2, 2+n) })
	}},
	{"QP.RecvPoster", "post receive", func(t testing.TB, p Queues, n int) Posted {
		c, poster := RecvChain(t, n, 0), p.QP.RecvPoster()
		return recvPosted(t, c, p.QP, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"QP.RecvPoster of a range", "post receive", func(t testing.TB, p Queues, n int) Posted {
		c, poster := RecvChain(t, n+5, 2), p.QP.RecvPoster()
		return recvPosted(t, c, p.QP, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"SRQ.RecvPoster", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		c, poster := RecvChain(t, n, 0), p.SRQ.RecvPoster()
		return recvPosted(t, c, p.SRQ, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"SRQ.RecvPoster of a range", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		c, poster := RecvChain(t, n+5, 2), p.SRQ.RecvPoster()
		return recvPosted(t, c, p.SRQ, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"QP.SendPoster", "post send", func(t testing.TB, p Queues, n int) Posted {
		c, poster := SendChain(t, n, 0), p.SRQQP.SendPoster()
		return sendPosted(t, c, p.SRQQP, 0, n, func() (int, error) { return poster.Post(c) })
	}},
	{"QP.SendPoster of a range", "post send", func(t testing.TB, p Queues, n int) Posted {
		c, poster := SendChain(t, n+5, 2), p.QP.SendPoster()
		return sendPosted(t, c, p.QP, 2, n+5, func() (int, error) { return poster.PostRange(c, 2, 2+n) })
	}},
	{"RecvChain.PostPicked", "post receive", func(t testing.TB, p Queues, n int) Posted {
		c, picks := RecvChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(FirstID + k)
		}
		return recvPosted(t, c, p.QP, picks[0], n+5, func() (int, error) { return c.PostPicked(p.QP, picks) })
	}},
	{"RecvChain.PostPicked to an SRQ", "post shared receive", func(t testing.TB, p Queues, n int) Posted {
		c, picks := RecvChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(FirstID + k)
		}
		return recvPosted(t, c, p.SRQ, picks[0], n+5, func() (int, error) { return c.PostPicked(p.SRQ, picks) })
	}},
	{"SendChain.PostPicked", "post send", func(t testing.TB, p Queues, n int) Posted {
		c, picks := SendChain(t, n+5, 0), pick(n)
		for k, i := range picks {
			c.WR(i).WRID = uint64(FirstID + k)
		}
		return sendPosted(t, c, p.QP, picks[0], n+5, func() (int, error) { return c.PostPicked(p.QP, picks) })
	}},
}

// Pickers are the ways to post what is picked from a chain, by what errors call
// them.
func Pickers(p Queues, recv *ibv.RecvChain, send *ibv.SendChain) map[string]func(picked ...int) (int, error) {
	return map[string]func(picked ...int) (int, error){
		"post receive":        func(picked ...int) (int, error) { return recv.PostPicked(p.QP, picked) },
		"post shared receive": func(picked ...int) (int, error) { return recv.PostPicked(p.SRQ, picked) },
		"post send":           func(picked ...int) (int, error) { return send.PostPicked(p.QP, picked) },
	}
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

// FirstID is the number of the first work request of a list.
const FirstID = 100

func recvList(t testing.TB, n int, object any, post func(*ibv.RecvWR) (*ibv.RecvWR, error)) Posted {
	wrs := make([]ibv.RecvWR, n)
	for i := range wrs {
		wrs[i].WRID = FirstID + uint64(i)
		if i+1 < n {
			wrs[i].Next = &wrs[i+1]
		}
	}
	return listPosted(t, wrs, object, post, wrs[0].All())
}

func sendList(t testing.TB, n int, object any, post func(*ibv.SendWR) (*ibv.SendWR, error)) Posted {
	wrs := make([]ibv.SendWR, n)
	for i := range wrs {
		wrs[i].WRID = FirstID + uint64(i)
		if i+1 < n {
			wrs[i].Next = &wrs[i+1]
		}
	}
	return listPosted(t, wrs, object, post, wrs[0].All())
}

// listPosted is a list whose work requests follow each other, as all has them.
func listPosted[WR any](t testing.TB, wrs []WR, object any, post func(*WR) (*WR, error), all iter.Seq[*WR]) Posted {
	return Posted{object, addressOf(&wrs[0]), func() (int, error) {
		bad, err := post(&wrs[0])
		for i := range wrs {
			if &wrs[i] == bad {
				return i, err
			}
		}
		if bad != nil {
			t.Error("the work request returned is not in the list")
		}
		if err == nil {
			return len(wrs), nil
		}
		return -1, err
	}, func() {
		i := 0
		for wr := range all {
			require.Same(t, &wrs[i], wr)
			i++
		}
		require.Len(t, wrs, i)
	}}
}

// RecvChain is a chain of n whose work request first has the first number.
func RecvChain(t testing.TB, n, first int) *ibv.RecvChain {
	t.Helper()
	c, err := ibv.NewRecvChain(n, 2)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, c.Set(i, uint64(FirstID+i-first), ibv.SGE{Addr: uint64(i), Length: 7, LKey: 8}))
	}
	return c
}

// SendChain is RecvChain for sends.
func SendChain(t testing.TB, n, first int) *ibv.SendChain {
	t.Helper()
	c, err := ibv.NewSendChain(n, 2)
	require.NoError(t, err)
	for i := range n {
		require.NoError(t, c.Set(i, uint64(FirstID+i-first), ibv.WRSend, 0, ibv.SGE{Addr: uint64(i), Length: 7, LKey: 8}))
	}
	return c
}

func recvPosted(t testing.TB, c *ibv.RecvChain, object any, first, whole int, post func() (int, error)) Posted {
	return Posted{object, addressOf(c.WR(first)), post, func() {
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

func sendPosted(t testing.TB, c *ibv.SendChain, object any, first, whole int, post func() (int, error)) Posted {
	return Posted{object, addressOf(c.WR(first)), post, func() {
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

// addressOf is the address of something on the heap.
func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }
