//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// begin makes work request i one that is begun and no more.
func (b *Batch) begin(i int, op batchOp, wrID uint64, flags SendFlags) (*ccall.Step, error) {
	o := &operations[op]
	if uint(i) >= uint(len(b.steps)) || b.ops&o.flag == 0 {
		return nil, b.failed(i, lacksOp, func(act action) error {
			return act.invalid("the batch was not made for %v: %v is not among the operations that it was made for", op, o.flag)
		})
	}
	s := &b.steps[i]
	*s = ccall.Step{WRID: wrID, Flags: uint32(flags &^ SendInline), Op: b.qp.at(o.slot)}
	missing := lacks(0)
	if o.takes&takesData != 0 {
		missing = lacksData
	}
	if o.takes&takesReceiver != 0 {
		missing |= b.address
	}
	p := &b.parts[i]
	p.op = op
	if p.lacks == 0 {
		b.unfinished++
	}
	p.lacks = missing
	if b.errs != nil {
		for what := lacksOp; what <= lacksXRC; what <<= 1 {
			delete(b.errs, lacking{i, what})
		}
	}
	b.finished(i)
	return s, nil
}

// finished sees whether work request i, which lacked something until now, lacks
// nothing any more.
func (b *Batch) finished(i int) {
	if b.parts[i].lacks != 0 {
		return
	}
	b.unfinished--
}

// has says that work request i lacks something no more.
func (b *Batch) has(i int, what lacks) {
	if p := &b.parts[i]; p.lacks&what != 0 {
		p.lacks &^= what
		if b.errs != nil {
			delete(b.errs, lacking{i, what})
		}
		b.finished(i)
	}
}

// data is the step of work request i, which gets its data from the provider's
// function in a slot.
func (b *Batch) data(i int, slot uintptr, kind takes, entries int) (*ccall.Step, error) {
	if uint(i) < uint(len(b.steps)) && entries <= b.maxSGE && operations[b.parts[i].op].takes&kind != 0 {
		if fn := b.qp.at(slot); fn != 0 {
			s := &b.steps[i]
			s.Data = fn
			if s.Address == 0 && operations[b.parts[i].op].takes&takesMore == 0 {
				s.Plain = 1
			}
			b.has(i, lacksData)
			return s, nil
		}
	}
	return nil, b.failed(i, lacksData, func(act action) error {
		switch op := b.parts[i].op; {
		case op == opNone:
			return act.invalid("it lacks %v", lacksOp)
		case operations[op].takes&kind == 0:
			return act.invalid("%v does not take such data", op)
		case entries > b.maxSGE:
			return act.invalid("%d scatter/gather entries are given, the batch has room for %d", entries, b.maxSGE)
		default:
			return act.failed(syscall.EOPNOTSUPP)
		}
	})
}

// receiver is the step of work request i, which gets its receiver from the
// provider's function in a slot, if the queue pair is of one of the types.
func (b *Batch) receiver(i int, slot uintptr, what lacks, typ, orTyp QPType) (*ccall.Step, error) {
	if uint(i) < uint(len(b.steps)) && (b.qp.QPBase.QPType == typ || b.qp.QPBase.QPType == orTyp) && operations[b.parts[i].op].takes&takesReceiver != 0 {
		if fn := b.qp.at(slot); fn != 0 {
			s := &b.steps[i]
			s.Address, s.Plain = fn, 0
			b.has(i, what)
			return s, nil
		}
	}
	return nil, b.failed(i, what, func(act action) error {
		switch op := b.parts[i].op; {
		case op == opNone:
			return act.invalid("it lacks %v", lacksOp)
		case b.qp.QPBase.QPType != typ && b.qp.QPBase.QPType != orTyp:
			return act.invalid("a queue pair of type %v has no use for such a receiver", b.qp.QPBase.QPType)
		case operations[op].takes&takesReceiver == 0:
			return act.invalid("%v has no receiver", op)
		default:
			return act.failed(syscall.EOPNOTSUPP)
		}
	})
}

// patch is the step of work request i, which is begun, and of an operation that
// takes all of kind.
func (b *Batch) patch(i int, kind takes) (*ccall.Step, error) {
	if uint(i) < uint(len(b.steps)) && b.parts[i].op != opNone && operations[b.parts[i].op].takes&kind == kind {
		return &b.steps[i], nil
	}
	return nil, b.failed(i, lacksOp, func(act action) error {
		if b.parts[i].op == opNone {
			return act.invalid("it lacks %v", lacksOp)
		}
		return act.invalid("%v has none", b.parts[i].op)
	})
}

// failed is the error of a set: the batch has no such work request, or why says it.
// That is kept, and what the work request lacks because of it.
func (b *Batch) failed(i int, what lacks, why func(action) error) error {
	act := action{op: fmt.Sprintf("set work request %d of a batch", i)}
	if uint(i) >= uint(len(b.parts)) {
		return act.invalid("the batch has %d", len(b.parts))
	}
	if b.parts[i].lacks == 0 {
		b.unfinished++
	}
	b.parts[i].lacks |= what
	if b.errs == nil {
		b.errs = make(map[lacking]error)
	}
	err := why(act)
	b.errs[lacking{i, what}] = err
	return err
}

// list is the address of the room that work request i has for a list. C may not be
// given NULL where a list is empty, for some providers copy from it all the same.
func (b *Batch) list(i int) uintptr {
	// Safe: it is an address for C, and b keeps the memory.
	if b.maxSGE == 0 {
		return uintptr(unsafe.Pointer(&b.steps[i]))
	}
	return uintptr(unsafe.Pointer(&b.entries[i*b.maxSGE]))
}

// keep is the address of bytes of the caller's, which are kept alive until others
// have their place: 0 is the header of work request i, and 1 the first piece of its
// inline data.
func (b *Batch) keep(i, place int, bytes []byte) uintptr {
	if len(bytes) == 0 {
		return b.list(i)
	}
	places := 1 + max(b.maxSGE, 1)
	if b.kept == nil {
		b.kept = make([]unsafe.Pointer, places*len(b.steps))
	}
	// Safe: it is an address for C, and the memory is kept here.
	start := unsafe.Pointer(unsafe.SliceData(bytes))
	b.kept[i*places+place] = start
	return uintptr(start)
}
