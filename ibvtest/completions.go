//go:build !freebsd

package ibvtest

// completions is a ring of them.
type completions struct {
	depth int          // how many there can be
	ring  []completion // grown as needed, up to depth
	first int
	n     int
}

// add makes room for one more. There are fewer than depth.
func (q *completions) add() *completion {
	if q.n == len(q.ring) {
		q.move(min(q.depth, max(16, 2*len(q.ring))))
	}
	at := q.first + q.n
	if at >= len(q.ring) {
		at -= len(q.ring)
	}
	q.n++
	return &q.ring[at]
}

// take takes the oldest one, which is valid until the next add. There is one.
func (q *completions) take() *completion {
	c := &q.ring[q.first]
	q.first++
	if q.first == len(q.ring) {
		q.first = 0
	}
	q.n--
	return c
}

// resize changes how many there can be, which are no fewer than there are.
func (q *completions) resize(depth int) {
	q.depth = depth
	if len(q.ring) > depth {
		q.move(depth)
	}
}

// move moves them to a ring of another size.
func (q *completions) move(size int) {
	ring := make([]completion, size)
	end := min(q.first+q.n, len(q.ring))
	n := copy(ring, q.ring[q.first:end])
	copy(ring[n:], q.ring[:q.n-n])
	q.ring, q.first = ring, 0
}
