package model

import (
	"fmt"
	"maps"
	"slices"

	"github.com/goverbs/goverbs/ibv"
)

// world is what the model knows: objects, memory, and completions that must come.
type world struct {
	Latitude
	memory
	pds  map[int]bool
	mws  map[int]*window // those that are gone too
	mrs  map[int]*region // those that are gone too, for their keys are still there
	cqs  map[int]*completionQueue
	srqs map[int]*sharedQueue
	qps  map[int]*queuePair
	ahs  map[int]int // the protection domains

	expected []*expectation
	// undefined is why nobody can say what happens from here on.
	undefined string
}

func newWorld(l Latitude) *world {
	return &world{
		Latitude: l, pds: map[int]bool{}, mrs: map[int]*region{}, mws: map[int]*window{}, cqs: map[int]*completionQueue{},
		srqs: map[int]*sharedQueue{}, qps: map[int]*queuePair{}, ahs: map[int]int{},
	}
}

type region struct {
	RegMR
	gone bool
}

type completionQueue struct{ entries int }

// receives is a receive queue: of a queue pair, or shared.
type receives struct {
	waiting []RecvWR
	maxWR   int
	maxSGE  int
	room    int // how many it takes, once a post has shown it; 0 before
}

type sharedQueue struct {
	receives
	pd int
}

type queuePair struct {
	CreateQP
	receives // where it has its own
	state    ibv.QPState
	access   ibv.AccessFlags
	qkey     uint32
	rnrRetry uint8
	retryCnt uint8

	// The peer of a connected one. Epochs count the resets: the two are connected when
	// each knows the other's present one.
	peer, peerEpoch, epoch int

	sends    []*send // what was not carried out yet
	occupied []*send // the places of the queue that are certain to be taken, oldest first
}

// send is a work request that was posted.
type send struct {
	SendWR
	local bool   // its own entries were good then
	data  []byte // what it sends, as that was then
	known bool
	key   int // which of the keys of the window it names
}

// expectation is a completion that must come, or may.
type expectation struct {
	qp, cq   int
	receive  bool
	id       uint64
	statuses []ibv.WCStatus
	opcode   ibv.WCOpcode
	length   int // -1 where it means nothing
	flags    ibv.WCFlags
	imm      uint32
	window   int  // that was invalidated
	from     int  // of a datagram, the queue pair that sent it
	late     bool // it may come later, or not at all
	dropped  bool // the queue pair is reset, or gone, before it came
}

// queue is where a completion's order is certain.
func (e *expectation) queue() string {
	if e.receive {
		return fmt.Sprintf("receive queue of queue pair %d", e.qp)
	}
	return fmt.Sprintf("send queue of queue pair %d", e.qp)
}

func (e *expectation) String() string {
	text := fmt.Sprintf("completion with ID %d of the %s: %v", e.id, e.queue(), e.statuses)
	if e.statuses[0] == ibv.WCSuccess {
		text += fmt.Sprintf(", %v", e.opcode)
		if e.length >= 0 {
			text += fmt.Sprintf(", %d bytes", e.length)
		}
		if e.flags&ibv.WCWithImm != 0 {
			text += fmt.Sprintf(", immediate data %#x", e.imm)
		}
	}
	return text
}

// expect takes down a completion that must come.
func (w *world) expect(e *expectation) {
	qp := w.qps[e.qp]
	e.cq = qp.SendCQ
	if e.receive {
		e.cq = qp.RecvCQ
	}
	w.expected = append(w.expected, e)
	n := 0
	for _, o := range w.expected {
		if o.cq == e.cq {
			n++
		}
	}
	if n > w.cqs[e.cq].entries {
		w.leave("completion queue %d overruns", e.cq)
	}
}

// drop is for a queue pair that is reset, or goes: what it has not completed may still
// complete because of that.
func (w *world) drop(qp int) {
	for _, e := range w.expected {
		e.dropped = e.dropped || e.qp == qp && e.late
	}
}

// leave says why nobody can say what happens.
func (w *world) leave(format string, args ...any) {
	if w.undefined == "" {
		w.undefined = fmt.Sprintf(format, args...)
	}
}

// sorted is the numbers of the objects in order.
func sorted[T any](objects map[int]T) []int { return slices.Sorted(maps.Keys(objects)) }

// queueOf is where the queue pair takes its receives from.
func (w *world) queueOf(qp *queuePair) *receives {
	if qp.SRQ != 0 {
		return &w.srqs[qp.SRQ].receives
	}
	return &qp.receives
}
