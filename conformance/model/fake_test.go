package model

import (
	"slices"

	"github.com/goverbs/goverbs/ibv"
)

// fake is a machine that does what the model says, but for one mistake.
type fake struct {
	w       *world
	wcs     map[int][]ibv.WC // by completion queue
	mistake mistake
	made    bool // the mistake was made
}

// mistake is what a device might do wrong. Each function reports whether there was
// anything to do wrong.
type mistake struct {
	answer     func(c Call, a *answer) bool
	completion func(e *expectation, wcs *[]ibv.WC) bool // the last one is e's
	memory     func(m *memory, c Call) bool
	state      func(qp *queuePair) bool
}

func newFake(m mistake, l Latitude) *fake {
	return &fake{w: newWorld(l), wcs: map[int][]ibv.WC{}, mistake: m}
}

func (f *fake) do(c Call) (*answer, error) {
	a := f.w.assume(c)
	if err := f.w.judge(c, a); err != nil {
		return nil, err
	}
	f.w.run()
	for _, e := range f.w.expected {
		if e.late {
			continue
		}
		wc := ibv.WC{WRID: e.id, Status: e.statuses[0], Opcode: e.opcode, QPNum: uint32(e.qp), WCFlags: e.flags, SrcQP: uint32(e.from), ByteLen: uint32(max(e.length, 0))}
		wc.SetImmData(ibv.ToBE32(e.imm))
		if e.window != 0 {
			wc.SetInvalidatedRKey(uint32(e.window))
		}
		wcs := append(f.wcs[e.cq], wc)
		if f.mistake.completion != nil && !f.made {
			f.made = f.mistake.completion(e, &wcs)
		}
		f.wcs[e.cq] = wcs
	}
	f.w.expected = slices.DeleteFunc(f.w.expected, func(e *expectation) bool { return !e.late })
	f.w.open, f.w.opens = [MemorySize]bool{}, 0
	if f.mistake.answer != nil && !f.made {
		f.made = f.mistake.answer(c, a)
	}
	if f.mistake.memory != nil && !f.made {
		f.made = f.mistake.memory(&f.w.memory, c)
	}
	return a, nil
}

func (f *fake) poll(cq int) ([]ibv.WC, error) {
	wcs := f.wcs[cq]
	delete(f.wcs, cq)
	return wcs, nil
}

func (f *fake) memory() []byte { return f.w.data[:] }

func (f *fake) qpOf(number uint32) int { return int(number) }

func (f *fake) windowOf(rkey uint32) int { return int(rkey) }

func (f *fake) state(qp int) (ibv.QPState, error) {
	if f.mistake.state != nil && f.mistake.state(f.w.qps[qp]) {
		f.made = true
		return ibv.QPSRTS, nil
	}
	return f.w.qps[qp].state, nil
}

func (f *fake) settle(Call) {}
