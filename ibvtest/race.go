//go:build !freebsd && race

package ibvtest

import (
	"runtime"
	"slices"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// The race detector knows goroutines, and the device has to be one for it to see that the device shares memory with the
// program. So whatever the device does with memory a goroutine of its own does, which begins after what the device has
// waited for, and which nobody is after but who has polled the completion. From the post on it is the device that uses
// a buffer: a goroutine reads or writes all of it then, in the detector's eyes, and the program that does so too before
// it has the completion is seen to, in whatever goroutine, also in the one that posted.
//
// What is after what is told by releasing and acquiring variables that stand for it. The goroutine that waits for one of the
// device's does not look: it would be after it.

// ownership is the device's of the buffers of a work request. It is given back when the program has polled the completion.
type ownership struct {
	*token
	silent []*token // of those before it in its queue that have no completion
}

// token is of one work request.
type token struct {
	posted byte // released by the post
	done   byte // released by what the device does for it
	queue  *queueUse
	claims []claimed
	shared bool // its buffers are those of another work request too
}

// claimed is memory that the device may read or write at any time.
type claimed struct {
	mr         *region
	start, end uintptr
	writes     bool
	of         *token
}

// overlaps reports whether two would be a race if both were not the device's.
func (c *claimed) overlaps(o *claimed) bool {
	return (c.writes || o.writes) && c.start < o.end && o.start < c.end && c.of != o.of
}

// queueUse is of a work queue.
type queueUse struct {
	live   map[*token]struct{} // what the program does not have back
	silent []*token            // ended, and nobody was told
}

// peersUse is of a queue pair, whose peers use memory through it.
type peersUse struct {
	done byte // released by what peers do through it
}

// regionUse is of a region.
type regionUse struct {
	cells   [64]uint64 // read by the device while a work request is about the region, and written when that is released
	next    int
	peers   byte // released by what peers do to it
	claimed []claimed
}

// claims is those of a post whose goroutine is still to come.
type claims struct {
	pending []claim
}

type claim struct {
	token  *token
	use    deviceUse
	pieces []piece
	cells  []*uint64
	after  []*token // whose buffers are among its own
}

func acquire(at *byte) { runtime.RaceAcquire(unsafe.Pointer(at)) }
func release(at *byte) { runtime.RaceReleaseMerge(unsafe.Pointer(at)) }

// onDevice has a goroutine of the device's do something, and waits for it unseen.
func onDevice(do func()) {
	done := make(chan struct{})
	go func() {
		do()
		runtime.RaceDisable()
		close(done)
		runtime.RaceEnable()
	}()
	runtime.RaceDisable()
	<-done
	runtime.RaceEnable()
}

// post is for a work request that was taken: claims.made follows.
func (q *queueUse) post(f *Fabric, own *ownership, pd *domain, entries []ibv.SGE, use deviceUse) {
	t := &token{queue: q}
	*own = ownership{token: t}
	if q.live == nil {
		q.live = map[*token]struct{}{}
	}
	q.live[t] = struct{}{}
	release(&t.posted)
	c := claim{token: t, use: use}
	keys := &pd.ctx.dev.keys
	for i := range entries {
		pieces, status := pd.local(nil, entries[i:i+1], use != sends)
		mr := keys.regions[entries[i].LKey]
		if status != ibv.WCSuccess || mr == nil || mr.null || len(pieces) == 0 {
			continue // it will end with an error
		}
		c.pieces = append(c.pieces, pieces[0])
		c.cells = append(c.cells, mr.use.cell())
		c.after = append(c.after, mr.use.claim(mr, t, pieces[0], use != sends)...)
	}
	if len(c.pieces) > 0 {
		f.claims.pending = append(f.claims.pending, c)
	}
}

// cell is one for a work request to read.
func (u *regionUse) cell() *uint64 {
	u.next++
	return &u.cells[u.next%len(u.cells)]
}

// claim notes what the device may read or write, and tells of which other work requests it is already.
func (u *regionUse) claim(mr *region, t *token, p piece, writes bool) (others []*token) {
	c := claimOf(mr, t, p, writes)
	for i := range u.claimed {
		if o := &u.claimed[i]; c.overlaps(o) {
			o.of.shared, t.shared = true, true
			others = append(others, o.of)
		}
	}
	u.claimed, t.claims = append(u.claimed, c), append(t.claims, c)
	return others
}

func claimOf(mr *region, t *token, p piece, writes bool) claimed {
	start := uintptr(unsafe.Pointer(unsafe.SliceData(p)))
	return claimed{mr, start, start + uintptr(len(p)), writes, t}
}

// made has the device take what was posted.
func (c *claims) made() {
	if len(c.pending) == 0 {
		return
	}
	pending := c.pending
	c.pending = nil
	onDevice(func() {
		for _, p := range pending {
			for _, other := range p.after {
				acquire(&other.done) // one device writes to both
			}
			use(p.use, p.pieces)
			for _, cell := range p.cells {
				aWorkRequestUsesARegion(cell)
			}
			release(&p.token.done)
		}
	})
}

// end is for a work request that has ended, with a completion if told.
func (q *queueUse) end(own *ownership, told bool) ownership {
	t := own.token
	if !told {
		q.silent = append(q.silent, t)
		return ownership{}
	}
	all := ownership{token: t, silent: q.silent}
	q.silent = nil
	return all
}

func (t *token) unclaim() {
	for _, c := range t.claims {
		c.mr.use.claimed = slices.DeleteFunc(c.mr.use.claimed, func(o claimed) bool { return o.of == t })
	}
	t.claims = nil
}

// polled has the program be after all that the device did for what it now has back.
func (own *ownership) polled() {
	for _, t := range own.silent {
		t.back()
	}
	if own.token != nil {
		own.back()
	}
}

func (t *token) back() {
	acquire(&t.done)
	t.unclaim()
	delete(t.queue.live, t)
}

// stop is for a queue that is reset or destroyed: the program has everything back.
func (q *queueUse) stop() {
	for t := range q.live {
		acquire(&t.done)
		t.unclaim()
	}
	clear(q.live)
	q.silent = nil
}

// place is for a message that arrives at the pieces of a receive.
func (q *peersUse) place(from, to *ownership, pieces []piece) {
	pieces = slices.Clone(pieces) // which change while they are filled
	if to.shared {
		pieces = nil
	}
	sent, received := from.token, to.token // whose places others use next
	onDevice(func() {
		acquire(&sent.posted)
		acquire(&received.done)
		acquire(&q.done)
		use(receives, pieces)
		release(&received.done)
	})
}

// write is for what a peer writes. The peer knows that it is there if it is told reliably.
func (q *peersUse) write(from *ownership, mr *region, to piece, data []piece, reliable bool) copied {
	data = slices.Clone(data) // which changes
	end := q.reach(from, mr, to, true, reliable, func(o *outcome) {
		if len(to) > 0 {
			aPeerWritesByRDMA(to)
		}
		o.put(0, writeInOrder(to, data))
	})
	_, how := end.get()
	return how
}

// read is for what a peer reads.
func (q *peersUse) read(from *ownership, mr *region, p piece) {
	q.reach(from, mr, p, false, true, func(*outcome) {
		if len(p) > 0 {
			aPeerReadsByRDMA(p)
		}
	})
}

// change is for what a peer changes atomically, as sync/atomic does.
func (q *peersUse) change(from *ownership, mr *region, on piece, do func(word *uint64) uint64) (old uint64, there bool) {
	end := q.reach(from, mr, on, true, true, func(o *outcome) {
		if old, there := aPeerChangesAtomically(on, do); there {
			o.put(old, wholly)
		} else {
			o.put(0, toFaults)
		}
	})
	old, how := end.get()
	return old, how == wholly
}

// reach has a peer do something to a region.
func (q *peersUse) reach(from *ownership, mr *region, p piece, writes, reliable bool, do func(*outcome)) *outcome {
	o, t := new(outcome), from.token
	var after []*token
	if mr != nil {
		c := claimOf(mr, nil, p, writes)
		for i := range mr.use.claimed {
			if other := &mr.use.claimed[i]; c.overlaps(other) {
				after = append(after, other.of) // one device does both
			}
		}
	}
	onDevice(func() {
		acquire(&t.posted)
		acquire(&q.done)
		for _, other := range after {
			acquire(&other.done)
		}
		do(o)
		release(&q.done)
		if mr != nil { // there is something to reach
			release(&mr.use.peers)
		}
		if reliable {
			release(&t.done)
		}
	})
	return o
}

// outcome is what came of something that a goroutine of the device's did, told to who did not look.
type outcome struct {
	number uint64
	how    copied
}

//go:norace
func (o *outcome) put(number uint64, how copied) { o.number, o.how = number, how }

//go:norace
func (o *outcome) get() (number uint64, how copied) { return o.number, o.how }

// stop is for a queue pair that peers reach no longer.
func (q *peersUse) stop() { acquire(&q.done) }

// releases is for a region that is released: no work request may be about it, and no peer reaches it any more.
func (u *regionUse) releases() {
	theProgramReleasesARegion(u)
	u.closes()
}

// closes is for a region that some peers reach no longer.
func (u *regionUse) closes() { acquire(&u.peers) }

// use tells of a use, by a function whose name the report has.
func use(how deviceUse, pieces []piece) {
	for _, p := range pieces {
		if len(p) == 0 {
			continue
		}
		switch how {
		case sends:
			theDeviceReadsASendBuffer(p)
		case receives:
			theDeviceWritesAReceiveBuffer(p)
		case fetches:
			theDeviceWritesWhatItReadsFromAPeer(p)
		}
	}
}

//go:noinline
func theDeviceReadsASendBuffer(p piece) { reads(p) }

//go:noinline
func theDeviceWritesAReceiveBuffer(p piece) { writes(p) }

//go:noinline
func theDeviceWritesWhatItReadsFromAPeer(p piece) { writes(p) }

//go:noinline
func aPeerReadsByRDMA(p piece) { reads(p) }

//go:noinline
func aPeerChangesAtomically(on piece, do func(word *uint64) uint64) (old uint64, there bool) {
	return atomically(on, do)
}

// aPeerWritesByRDMA leaves out the last word where write stores that with sync/atomic.
//
//go:noinline
func aPeerWritesByRDMA(p piece) {
	if lastAtOnce(p) {
		p = p[:len(p)-atomicLength]
	}
	if len(p) > 0 {
		writes(p)
	}
}

//go:noinline
func aWorkRequestUsesARegion(cell *uint64) { readsWord(cell) }

//go:noinline
func theProgramReleasesARegion(u *regionUse) { writesWords(&u.cells) }

//go:noinline
func reads(p piece) { runtime.RaceReadRange(unsafe.Pointer(unsafe.SliceData(p)), len(p)) }

//go:noinline
func readsWord(word *uint64) { runtime.RaceReadRange(unsafe.Pointer(word), 8) }

//go:noinline
func writesWords(words *[64]uint64) {
	runtime.RaceWriteRange(unsafe.Pointer(words), int(unsafe.Sizeof(*words)))
}
