package ibv

import (
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// SendChain is send work requests that are built once, patched in place, and
// posted in one call, whole or in part, as often as one likes. One goroutine at a
// time may use it.
type SendChain struct {
	_ noCopy

	whole ccall.List
	list  chain[SendWR]
	// inline keeps alive what is sent inline, by work request. It is nil at first.
	inline []unsafe.Pointer
}

// NewSendChain makes a chain of n send work requests with room for maxSGE
// scatter/gather entries each. They start as signalled sends without entries,
// with their index as WRID.
func NewSendChain(n, maxSGE int) (*SendChain, error) {
	c, err := newChain[SendWR]("send", n, maxSGE)
	if err != nil {
		return nil, err
	}
	c.linkAll(0, n, false)
	for i := range c.wrs {
		c.wrs[i].Opcode, c.wrs[i].SendFlags = WRSend, SendSignaled
	}
	return &SendChain{whole: c.whole(), list: c}, nil
}

// Len is the number of work requests.
func (c *SendChain) Len() int { return len(c.list.wrs) }

// WR is work request i, from 0, to be read and patched in place at any time that
// the chain is not being posted. Its Next and SGList belong to the chain: do not
// write them; SGList is nil as long as Set has given it no entries. The collector
// does not look into a chain: a pointer of yours there would keep nothing alive,
// and storing another over it could end the program. Like an index of a slice, i
// must be there. The pointer keeps the chain's memory alive.
func (c *SendChain) WR(i int) *SendWR { return &c.list.wrs[i] }

// WRs is all work requests, in one block: see [RecvChain.WRs].
func (c *SendChain) WRs() []SendWR { return c.list.wrs }

// Post posts the whole chain to the send queue of qp. It returns how many work
// requests the provider accepted: all of them when err is nil. Otherwise the one
// with that index was refused, the ones before it are posted, and PostRange goes
// on from there. accepted is -1 when the provider did not say, and the error is
// [ErrAcceptedUnknown] then. Nothing is allocated, whatever the result. See
// ibv_post_send(3).
func (c *SendChain) Post(qp *QP) (accepted int, err error) {
	if ccall.RaceDetector {
		c.list.posting(0, c.whole.Len)
	}
	// Safe: C gets its own object, and a list that lives until the call is over.
	return ccall.PostList(uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), &c.whole, nil, sendListRefused)
}

// PostRange is Post for the work requests from first on and before end. An empty
// range is a success. accepted counts from first.
func (c *SendChain) PostRange(qp *QP, first, end int) (accepted int, err error) {
	return c.list.postRange(opPostSend, uintptr(qp.Context.Ops.PostSend), unsafe.Pointer(qp), first, end)
}

// sendListRefused says what a refusal of Post means.
func sendListRefused(l *ccall.List, result, errno int32, bad uintptr) (int, error) {
	return listRefused[SendWR](opPostSend, l, result, errno, bad)
}
