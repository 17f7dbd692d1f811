package model

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/goverbs/goverbs/ibv"
)

// machine is what the calls are made on.
type machine interface {
	do(c Call) (*answer, error)
	poll(cq int) ([]ibv.WC, error)
	memory() []byte
	qpOf(number uint32) int // the queue pair that has, or had, that number; 0 if there is none
	windowOf(rkey uint32) int
	state(qp int) (ibv.QPState, error)
	settle(c Call) // waits until what the call caused is over, where nothing tells
}

// Outcome is what a replay came to.
type Outcome struct {
	Calls     int    // that were made
	Completed int    // completions that came
	Refused   int    // calls that were refused, or posts of which a part was
	Undefined string // why it ended before the sequence's end, if it did
}

// Disagreement is where the device and the model part.
type Disagreement struct {
	Index int // of the call
	Call  Call
	What  string
}

// Error says what the device did, and what the model says.
func (d *Disagreement) Error() string {
	return fmt.Sprintf("call %d, %s: %s", d.Index, Text(d.Call), d.What)
}

// kind is what disagreements have in common that have one cause, as far as that shows:
// the kind of call, and the words without their numbers.
func (d *Disagreement) kind() string {
	return fmt.Sprintf("%T: %s", d.Call, strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, strings.SplitN(d.What, ":", 2)[0]))
}

// replay makes the calls one after the other, and compares after each.
func replay(m machine, l Latitude, s Sequence, patience time.Duration) (Outcome, error) {
	w, o := newWorld(l), Outcome{}
	for i, c := range s {
		disagree := func(what string) (Outcome, error) { return o, &Disagreement{i, c, what} }
		if !w.present(c) {
			continue
		}
		if w.foresee(c); w.undefined != "" {
			break
		}
		a, err := m.do(c)
		if err != nil {
			return o, err
		}
		o.Calls++
		if a.errno != 0 {
			o.Refused++
		}
		if err := w.judge(c, a); err != nil {
			return disagree(err.Error())
		}
		if w.run(); w.undefined != "" {
			break
		}
		m.settle(c)
		n, err := w.compare(m, patience)
		if o.Completed += n; err != nil {
			return disagree(err.Error())
		}
	}
	o.Undefined = w.undefined
	return o, nil
}

// compare waits until all is as the model says. It returns how many completions came.
func (w *world) compare(m machine, patience time.Duration) (completed int, err error) {
	start := time.Time{}
	for tries := 0; ; tries++ {
		n, err := w.collect(m)
		if completed += n; err != nil {
			return completed, err
		}
		if err = w.missing(m); err == nil {
			return completed, nil
		}
		if start.IsZero() {
			start = time.Now()
		} else if time.Since(start) > patience {
			return completed, fmt.Errorf("after %v: %w", patience, err)
		}
		if tries < 100 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}

// collect polls every completion queue empty.
func (w *world) collect(m machine) (n int, err error) {
	for _, cq := range sorted(w.cqs) {
		for {
			wcs, err := m.poll(cq)
			if err != nil {
				return n, err
			}
			if len(wcs) == 0 {
				break
			}
			for i := range wcs {
				n++
				if err := w.completed(m, cq, &wcs[i]); err != nil {
					return n, err
				}
			}
		}
	}
	return n, nil
}

// completed compares a completion with what is expected.
func (w *world) completed(m machine, cq int, wc *ibv.WC) error {
	qp := m.qpOf(wc.QPNum)
	at := slices.IndexFunc(w.expected, func(e *expectation) bool { return e.qp == qp && e.id == wc.WRID })
	if at < 0 {
		return fmt.Errorf("nobody expects this on completion queue %d: %v", cq, *wc)
	}
	e := w.expected[at]
	for _, before := range w.expected[:at] {
		if before.queue() == e.queue() && !before.dropped {
			return fmt.Errorf("out of order: %v; the next one of the %s should be: %v", *wc, e.queue(), before)
		}
	}
	if err := w.differs(m, e, cq, wc); err != nil {
		return fmt.Errorf("%w: %v; it should be: %v", err, *wc, e)
	}
	w.expected = slices.Delete(w.expected, at, at+1)
	if e.late {
		w.flushed(e)
	}
	return nil
}

// differs is in what a completion is not the one expected.
func (w *world) differs(m machine, e *expectation, cq int, wc *ibv.WC) error {
	switch {
	case cq != e.cq:
		return fmt.Errorf("on completion queue %d, and not %d", cq, e.cq)
	case !slices.Contains(e.statuses, wc.Status):
		return errors.New("another status")
	case wc.Status != ibv.WCSuccess:
		return nil
	case wc.Opcode != e.opcode:
		return fmt.Errorf("another opcode than %v", e.opcode)
	case e.length >= 0 && int(wc.ByteLen) != e.length:
		return fmt.Errorf("%d bytes, and not %d", wc.ByteLen, e.length)
	case e.receive && (wc.WCFlags^e.flags)&(ibv.WCWithImm|ibv.WCWithInv) != 0:
		return fmt.Errorf("flags %v, and not %v", wc.WCFlags, e.flags)
	case e.flags&ibv.WCWithImm != 0 && wc.ImmData().Host() != e.imm:
		return fmt.Errorf("immediate data %#x, and not %#x", wc.ImmData().Host(), e.imm)
	case e.window != 0 && m.windowOf(wc.InvalidatedRKey()) != e.window:
		return fmt.Errorf("key %#x was invalidated, and not that of window %d", wc.InvalidatedRKey(), e.window)
	case e.from != 0 && m.qpOf(wc.SrcQP) != e.from:
		return fmt.Errorf("from queue pair number %#x, and not from queue pair %d", wc.SrcQP, e.from)
	}
	return nil
}

// missing is what is not yet as it should be.
func (w *world) missing(m machine) error {
	for _, e := range w.expected {
		if !e.late {
			return fmt.Errorf("there is no %v", e)
		}
	}
	for _, number := range sorted(w.qps) {
		// Nobody asked for a move to these, so it may be under way.
		if qp := w.qps[number]; qp.state > ibv.QPSRTS {
			state, err := m.state(number)
			if err != nil {
				return err
			}
			if state != qp.state {
				return fmt.Errorf("queue pair %d is in %v, and should be in %v", number, state, qp.state)
			}
		}
	}
	return w.memory.compare(m.memory())
}
