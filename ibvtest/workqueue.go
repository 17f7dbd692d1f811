//go:build !freebsd

package ibvtest

import "math/bits"

// slots is the places of a work queue. A work request has its place until a program has polled its completion, or, if it
// has none, the next one of its queue: as the specification (10.8.5.1) and most hardware have it, so that a program that
// never has a send signaled finds its queue full here too.
type slots struct {
	depth uint32
	taken uint32
	life  uint32 // counts the resets: completions from before free nothing
}

// depth is how many places a queue gets for which a program asks for n, whatever the provider says that they are.
func (f *Fabric) depth(n uint32) uint32 {
	if n == 0 || !f.provider.Rounded {
		return n
	}
	return 1<<bits.Len32(n) - 1
}

// full reports whether there is no place left.
func (s *slots) full() bool { return s.taken >= s.depth }

// free frees places when a completion is polled.
func (s *slots) free(n, life uint32) {
	if s.life == life {
		s.taken -= n
	}
}

// workQueue is a queue of work requests that wait to be carried out. Its memory, and that of what is in it, is used again.
type workQueue[W any] struct {
	slots
	use         queueUse
	ring        []W // as many as a power of two
	first, last uint32
}

// add takes a place and gives the work request in it to be filled, with what was there before.
func (q *workQueue[W]) add() *W {
	if int(q.last-q.first) == len(q.ring) {
		q.grow()
	}
	w := q.at(q.last)
	q.last++
	q.taken++
	return w
}

func (q *workQueue[W]) at(i uint32) *W { return &q.ring[i&uint32(len(q.ring)-1)] }

// grow makes room for twice as many.
func (q *workQueue[W]) grow() {
	ring := make([]W, max(8, 2*len(q.ring)))
	for i := q.first; i != q.last; i++ {
		ring[i&uint32(len(ring)-1)] = *q.at(i)
	}
	q.ring = ring
}

// waiting is how many are to be carried out.
func (q *workQueue[W]) waiting() int { return int(q.last - q.first) }

// next is the one to be carried out next, or nil. It is valid until something is added.
func (q *workQueue[W]) next() *W {
	if q.first == q.last {
		return nil
	}
	return q.at(q.first)
}

// done takes away what next gave. Its place stays taken.
func (q *workQueue[W]) done() { q.first++ }

// clear forgets all work requests, and frees their places.
func (q *workQueue[W]) clear() {
	q.first, q.taken = q.last, 0
	q.life++
	q.use.stop()
}
