package ibv

import (
	"fmt"
	"math"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// A chain is one block of memory with work requests and their scatter/gather
// entries, linked once: posting it, or a part of it, is one call with nothing
// to prepare. The block is in the Go heap, in memory that the collector does not
// look into: its pointers point into itself, so they neither need to keep
// anything alive nor ever change. Posting all of it is up to the chains that
// users see, whose methods are small enough to be inlined.
type chain[WR any] struct {
	wrs    []WR
	sges   []SGE // maxSGE for each work request
	maxSGE int
}

// maxBlock is how large a block may be. It is more than a million work requests
// with 32 entries each, the largest queues there are; without a limit, a number
// that is a mistake would end the program for lack of memory.
const maxBlock = 1 << 30

// Both kinds of work requests start with these three words, which is all that
// linking them takes.
const (
	wrIDWord = iota
	nextWord
	sgListWord
)

var _ = [1]struct{}{}[unsafe.Offsetof(RecvWR{}.WRID)-wrIDWord*wordSize|unsafe.Offsetof(SendWR{}.WRID)-wrIDWord*wordSize|
	unsafe.Offsetof(RecvWR{}.Next)-nextWord*wordSize|unsafe.Offsetof(SendWR{}.Next)-nextWord*wordSize|
	unsafe.Offsetof(RecvWR{}.SGList)-sgListWord*wordSize|unsafe.Offsetof(SendWR{}.SGList)-sgListWord*wordSize]

const wordSize = unsafe.Sizeof(uint64(0))

// newChain makes the block; nothing in it is linked yet.
func newChain[WR any](what string, n, maxSGE int) (chain[WR], error) {
	act := action{op: fmt.Sprintf("make a chain of %d %s work requests with %d scatter/gather entries each", n, what, maxSGE)}
	if n < 1 || maxSGE < 0 || maxSGE > math.MaxInt32 {
		return chain[WR]{}, act.invalid("there must be at least 1 work request, and room for 0 entries or more")
	}
	wrSize, sgesSize := unsafe.Sizeof(*new(WR)), uintptr(maxSGE)*unsafe.Sizeof(SGE{})
	if uintptr(n) > maxBlock/(wrSize+sgesSize) {
		return chain[WR]{}, act.because(syscall.ENOMEM, "a chain has at most 1 GiB, and no queue takes so many at once")
	}
	// Words, because a work request is aligned to 8 bytes and a multiple of them.
	block := make([]uint64, uintptr(n)*(wrSize+sgesSize)/wordSize)
	c := chain[WR]{maxSGE: maxSGE}
	// Safe: the block is large enough for n work requests and the entries behind
	// them, and aligned for both. The slices keep all of it alive.
	start := unsafe.Pointer(unsafe.SliceData(block))
	c.wrs = unsafe.Slice((*WR)(start), n)
	if maxSGE > 0 {
		c.sges = unsafe.Slice((*SGE)(unsafe.Add(start, uintptr(n)*wrSize)), n*maxSGE)
	}
	return c, nil
}

// linkAll gives each work request from first on and before end its index for a
// WRID, its successor, and its first entry if it is to have any.
func (c *chain[WR]) linkAll(first, end int, some bool) {
	wrSize, sgesSize := unsafe.Sizeof(*new(WR)), uintptr(0)
	start := unsafe.Pointer(unsafe.SliceData(c.wrs))
	entries := uintptr(0)
	if some {
		entries, sgesSize = c.entries(first), uintptr(c.maxSGE)*unsafe.Sizeof(SGE{})
	}
	// The links are written as numbers, as fast as memory takes them: the
	// collector neither looks into the block nor moves it.
	for i := range c.wrs[first:end] {
		// Safe: every kind of work request starts with these words.
		words := (*[sgListWord + 1]uint64)(unsafe.Add(start, uintptr(first+i)*wrSize))
		next := uintptr(unsafe.Pointer(words)) + wrSize
		words[wrIDWord], words[nextWord], words[sgListWord] = uint64(first+i), uint64(next), uint64(entries)
		entries += sgesSize
	}
	if end == len(c.wrs) {
		*c.nextOf(end - 1) = 0
	}
}

// entries is the address of the first entry that work request i has room for.
func (c *chain[WR]) entries(i int) uintptr { return uintptr(unsafe.Pointer(&c.sges[i*c.maxSGE])) }

// has reports whether there is a work request i with room for so many entries.
func (c *chain[WR]) has(i, sges int) bool { return uint(i) < uint(len(c.wrs)) && sges <= c.maxSGE }

// setSGEs gives work request i its entries, and C no list where there are none.
func (c *chain[WR]) setSGEs(i int, sges []SGE) {
	first := uintptr(0)
	if len(sges) > 0 {
		first = c.entries(i)
	}
	*c.wordOf(i, sgListWord) = first
	to := c.sges[i*c.maxSGE:]
	// Not copy, for so few entries are there before a call of it would begin.
	//lint:ignore S1001 see above
	for k := range sges {
		to[k] = sges[k]
	}
}

// setSGE is setSGEs for one.
func (c *chain[WR]) setSGE(i int, sge SGE) {
	*c.wordOf(i, sgListWord) = c.entries(i)
	c.sges[i*c.maxSGE] = sge
}

// notSet is the error of setting a work request that the chain does not have, or
// to more entries than it has room for.
func (c *chain[WR]) notSet(i, sges int) error {
	act := action{op: fmt.Sprintf("set work request %d", i)}
	if uint(i) >= uint(len(c.wrs)) {
		return act.invalid("the chain has %d", len(c.wrs))
	}
	return act.invalid("%d scatter/gather entries are given, the chain has room for %d", sges, c.maxSGE)
}

// whole is the list of all work requests.
func (c *chain[WR]) whole() ccall.List {
	return ccall.List{First: unsafe.Pointer(&c.wrs[0]), Len: len(c.wrs)}
}

// index is the number of the work request at an address among n that lie one
// behind the other, or -1. The address may be anything.
func index[WR any](address uintptr, first unsafe.Pointer, n int) int {
	size := unsafe.Sizeof(*new(WR))
	distance := address - uintptr(first)
	if address == 0 || distance%size != 0 || distance/size >= uintptr(n) {
		return -1
	}
	return int(distance / size)
}

// listRefused is how many of the work requests that lie one behind the other a
// provider accepted, -1 if that is not known, and the error.
func listRefused[WR any](op postOp, l *ccall.List, result, errno int32, bad uintptr) (int, error) {
	i := index[WR](bad, l.First, l.Len)
	if err := refusal(op, result, errno, i >= 0); err != nil {
		return i, err
	}
	return l.Len, nil
}

// wordOf is one of the words that work request i starts with.
func (c *chain[WR]) wordOf(i int, word uintptr) *uintptr {
	// Safe: every kind of work request has them there. An address is a number here,
	// because it is in memory that the collector does not look into, and points into
	// the same block, which c keeps.
	return (*uintptr)(unsafe.Add(unsafe.Pointer(&c.wrs[i]), word*wordSize))
}

// nextOf is where work request i has the address of its successor.
func (c *chain[WR]) nextOf(i int) *uintptr { return c.wordOf(i, nextWord) }

// posting tells the race detector, if there is one, that C reads the work requests
// from first on and before end, and their entries.
func (c *chain[WR]) posting(first, end int) {
	if !ccall.RaceDetector || first >= end {
		return
	}
	// Safe: these are the chain's own.
	ccall.RaceRead(unsafe.Pointer(&c.wrs[first]), uintptr(end-first)*unsafe.Sizeof(*new(WR)))
	if c.maxSGE > 0 {
		ccall.RaceRead(unsafe.Pointer(&c.sges[first*c.maxSGE]), uintptr((end-first)*c.maxSGE)*unsafe.Sizeof(SGE{}))
	}
}

// postRange posts a range that need not exist nor end where the chain does: the
// list is cut behind it for the time of the call.
func (c *chain[WR]) postRange(op postOp, slot uintptr, object unsafe.Pointer, first, end int) (int, error) {
	if first < 0 || first > end || end > len(c.wrs) {
		return 0, c.noRange(op, first, end)
	}
	if first == end {
		return 0, nil
	}
	c.posting(first, end)
	next := c.nextOf(end - 1)
	successor := *next
	*next = 0
	// Safe: C gets its own object, and a list that lives until the call is over.
	list := ccall.List{First: unsafe.Pointer(&c.wrs[first]), Len: end - first}
	result, errno, bad := ccall.Post(slot, object, list.First)
	*next = successor
	if result == 0 && bad == 0 {
		return list.Len, nil
	}
	return listRefused[WR](op, &list, result, errno, bad)
}

// noRange is the error for a range that the chain does not have.
func (c *chain[WR]) noRange(op postOp, first, end int) error {
	return action{op: fmt.Sprintf("%v %d to %d of a chain", op, first, end)}.invalid("the chain has 0 to %d", len(c.wrs))
}
