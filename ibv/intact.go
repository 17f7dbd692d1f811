package ibv

import (
	"fmt"
	"unsafe"
)

// SGEs is the scatter/gather entries that work request i has, to be read and patched
// as the work request itself is. It is nil where there are none, or where NumSGE was
// overwritten with more than there is room for.
func (c *RecvChain) SGEs(i int) []SGE { return c.list.sgesOf(i, c.list.wrs[i].NumSGE) }

// SGEs is as [RecvChain.SGEs]. Those of a work request with SendInline are what is
// sent inline.
func (c *SendChain) SGEs(i int) []SGE { return c.list.sgesOf(i, c.list.wrs[i].NumSGE) }

// Intact is nil if C can follow the work requests from first on and before end, and
// would find their entries: the error says which Next, SGList or NumSGE was
// overwritten with something that leads elsewhere. The last Next of the range is not
// looked at, for posts of a part end the list there themselves, and those of a whole
// chain end where it is nil. It is for those who look for mistakes; posts do not
// look.
func (c *RecvChain) Intact(first, end int) error {
	return c.list.intact(first, end, func(wr *RecvWR) int32 { return wr.NumSGE })
}

// Intact is as [RecvChain.Intact].
func (c *SendChain) Intact(first, end int) error {
	return c.list.intact(first, end, func(wr *SendWR) int32 { return wr.NumSGE })
}

// sgesOf is the first n entries of work request i, if there is room for them.
func (c *chain[WR]) sgesOf(i int, n int32) []SGE {
	if n <= 0 || int(n) > c.maxSGE || *c.wordOf(i, sgListWord) != c.entries(i) {
		return nil
	}
	return c.sges[i*c.maxSGE:][:n:n]
}

func (c *chain[WR]) intact(first, end int, numSGE func(*WR) int32) error {
	act := action{op: fmt.Sprintf("follow %d to %d of a chain", first, end)}
	if first < 0 || first > end || end > len(c.wrs) {
		return act.invalid("the chain has 0 to %d", len(c.wrs))
	}
	for i := first; i < end; i++ {
		next, list, n := *c.nextOf(i), *c.wordOf(i, sgListWord), numSGE(&c.wrs[i])
		switch {
		case i < end-1 && next == 0:
			return act.invalid("Next of work request %d was overwritten: the list ends there", i)
		case i < end-1 && next != uintptr(unsafe.Pointer(&c.wrs[i+1])):
			return act.invalid("Next of work request %d was overwritten: it does not lead to the one behind it", i)
		case n < 0 || int(n) > c.maxSGE:
			return act.invalid("NumSGE of work request %d is %d: the chain has room for %d", i, n, c.maxSGE)
		case n > 0 && list != c.entries(i):
			return act.invalid("NumSGE of work request %d is %d, and SGList does not lead to its entries: use Set", i, n)
		}
	}
	return nil
}
