package rdma

import (
	"fmt"
	"slices"
	"syscall"
)

// checkedQueue is a send queue, a receive queue or a shared one, with its work that
// is outstanding as far as the completions that were polled tell.
type checkedQueue struct {
	l      *life
	shared bool // an SRQ, which completes in any order
	send   bool
	depth  int
	room   int // entries of a work request
	own    bool
	cqs    []*checkedCQ // where it completes

	lost   bool // how much the provider took is not known
	works  []*work
	head   int // of works, in a queue that is not shared
	byWRID map[uint64][]*work
	count  int
	seq    uint64
	fence  uint64 // the number of the last work request with a fence
}

// work is a work request that is outstanding.
type work struct {
	queue     *checkedQueue
	wrID      uint64
	what      string
	signalled bool
	writes    bool // to its buffers
	atomic    bool // what it writes is the result of an atomic operation
	fenced    bool
	seq       uint64
	at        stack // what posted it
	uses      []use
}

// certain reports whether all that is posted to the queue and all that completes
// comes past the checks.
func (q *checkedQueue) certain() bool {
	if !q.own || q.lost || q.l.exposed.Load() {
		return false
	}
	for _, cq := range q.cqs {
		if !cq.own || cq.l.exposed.Load() {
			return false
		}
	}
	return true
}

// completesOn adds a completion queue, which may be missing.
func (q *checkedQueue) completesOn(cq *CQ) *checkedCQ {
	if cq == nil {
		q.own = false
		return nil
	}
	checks.Lock()
	defer checks.Unlock()
	if !slices.Contains(q.cqs, cq.checked) {
		q.cqs = append(q.cqs, cq.checked)
	}
	return cq.checked
}

// minds reports whether a work request must not use memory that another one, which
// writes if the first does not, still uses.
func (w *work) minds(other *work) bool {
	if !other.queue.certain() {
		return false
	}
	if w.atomic && other.atomic {
		return false // one buffer may be for all results, which nobody wants then
	}
	if w.queue != other.queue || !w.queue.send {
		return true
	}
	// A send queue begins its work in order, so that reads follow on sends. Sends do
	// not wait for reads, unless one of them since then has a fence.
	return !w.writes && max(w.queue.fence, w.fencedSeq()) <= other.seq
}

func (w *work) fencedSeq() uint64 {
	if w.fenced {
		return w.seq
	}
	return 0
}

// admit takes work requests for outstanding, which are about to be posted, or says
// what is wrong with one. It returns how many there is room for.
func (q *checkedQueue) admit(works []*work) (int, *mistake) {
	if !q.certain() {
		q.forget()
		return len(works), nil
	}
	for i, w := range works {
		if q.count >= q.depth {
			return i, q.full()
		}
		q.seq++
		w.seq = q.seq
		if mine, other := checks.memory.conflict(w); other != nil {
			q.takeBack(works[:i])
			return 0, w.inTheWay(mine, other)
		}
		q.add(w)
	}
	return len(works), nil
}

// full is the mistake of posting more than the queue holds.
func (q *checkedQueue) full() *mistake {
	m := &mistake{errno: syscall.ENOMEM, text: fmt.Sprintf("%d work requests are outstanding, and it holds %d: poll their completions first", q.count, q.depth)}
	if q.send && !q.tells() {
		m.text = fmt.Sprintf("%d work requests are outstanding, it holds %d, and none of them is signalled: no completion will ever tell that they are done", q.count, q.depth)
	}
	return m
}

// tells reports whether the completion of something outstanding will come.
func (q *checkedQueue) tells() bool {
	for _, w := range q.works[q.head:] {
		if w.signalled {
			return true
		}
	}
	return false
}

// inTheWay is the mistake of using a buffer that is in use.
func (w *work) inTheWay(mine, other *use) *mistake {
	o := other.work
	m := wrong("%s uses %d bytes at %#x, and the %s with WRID %#x on %s, which has not completed, uses %d bytes at %#x: poll its completion first",
		w.what, mine.end-mine.start, mine.start, o.what, o.wrID, o.queue.l.text(), other.end-other.start, other.start)
	return m.doneAt("the other was posted", o.at)
}

func (q *checkedQueue) add(w *work) {
	checks.memory.add(w)
	q.count++
	if w.fenced {
		q.fence = w.seq
	}
	if q.shared {
		if q.byWRID == nil {
			q.byWRID = map[uint64][]*work{}
		}
		q.byWRID[w.wrID] = append(q.byWRID[w.wrID], w)
		return
	}
	if q.head > 64 && q.head > len(q.works)/2 {
		n := copy(q.works, q.works[q.head:])
		clear(q.works[n:])
		q.works, q.head = q.works[:n], 0
	}
	q.works = append(q.works, w)
}

// takeBack forgets the work requests that were taken last, which were not posted.
func (q *checkedQueue) takeBack(works []*work) {
	if !q.certain() {
		return // none was taken
	}
	for _, w := range slices.Backward(works) {
		q.done(w)
		if q.shared {
			same := q.byWRID[w.wrID]
			q.keep(w.wrID, same[:len(same)-1])
			continue
		}
		last := len(q.works) - 1
		q.works[last] = nil
		q.works = q.works[:last]
	}
}

func (q *checkedQueue) keep(wrID uint64, same []*work) {
	if len(same) == 0 {
		delete(q.byWRID, wrID)
		return
	}
	q.byWRID[wrID] = same
}

func (q *checkedQueue) done(w *work) {
	checks.memory.remove(w)
	q.count--
}

// forget takes nothing for outstanding any more.
func (q *checkedQueue) forget() {
	for _, w := range q.works[q.head:] {
		checks.memory.remove(w)
	}
	for _, same := range q.byWRID {
		for _, w := range same {
			checks.memory.remove(w)
		}
	}
	q.works, q.head, q.byWRID, q.count = nil, 0, nil, 0
}

// reset is that nothing is outstanding, and that this is certain.
func (q *checkedQueue) reset() {
	q.forget()
	q.lost = false
}

// find is the index of the work request that a completion is of, or -1. One that has
// failed is not behind the first that is signalled, which would complete before it.
// Of several with the same WRID up to there, it may be the last.
func (q *checkedQueue) find(wrID uint64, failed bool) int {
	last := -1
	for i := q.head; i < len(q.works); i++ {
		w := q.works[i]
		if w.wrID == wrID && (w.signalled || failed) {
			last = i
		}
		if last >= 0 && w.signalled {
			return last
		}
	}
	return last
}

// completed takes note of a completion. In a queue that is not shared, what was
// posted before is done too.
func (q *checkedQueue) completed(wrID uint64, failed bool) {
	if q.shared {
		same := q.byWRID[wrID]
		if len(same) == 0 {
			return
		}
		// Which of several it is cannot be told, so none of them is in anybody's way.
		for _, w := range same {
			checks.memory.remove(w)
		}
		q.count--
		q.keep(wrID, same[1:])
		return
	}
	last := q.find(wrID, failed)
	if last < 0 {
		return
	}
	for ; q.head <= last; q.head++ {
		q.done(q.works[q.head])
		q.works[q.head] = nil
	}
}
