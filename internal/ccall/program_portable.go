package ccall

import (
	"runtime"
	"unsafe"
)

// The programs played call by call, on one thread, because C's lock may belong to a thread. Go runs in between, but
// whoever waits for the lock is in a system call, and keeps nobody from running.

// playPortable is playSteps on every platform that can call C at all.
func playPortable(p *Program, first *Step, n int) (result, errno int32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	object := uintptr(p.Object)
	call := func(fn, a, b, c, d, e uintptr) {
		if fn != 0 {
			callInt(fn, object, a, b, c, d, e)
		}
	}
	call(p.Start, 0, 0, 0, 0, 0)
	// Safe: the object has both there.
	words := (*struct {
		id    uint64
		flags uint32
	})(p.Words)
	steps := unsafe.Slice(first, n)
	for i := range steps {
		s := &steps[i]
		words.id, words.flags = s.WRID, s.Flags
		call(s.Op, s.OpArgs[0], s.OpArgs[1], s.OpArgs[2], s.OpArgs[3], s.OpArgs[4])
		call(s.Address, s.AddressArgs[0], s.AddressArgs[1], s.AddressArgs[2], 0, 0)
		call(s.Data, s.DataArgs[0], s.DataArgs[1], s.DataArgs[2], 0, 0)
	}
	result, reason := callInt(p.Complete, object)
	return result, int32(reason)
}

// pollExPortable is pollEx, likewise.
func pollExPortable(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	result, reason := callInt(p.Start, uintptr(p.CQ), uintptr(p.Attr))
	if result != 0 {
		return 0, result, int32(reason)
	}
	for {
		record := unsafe.Add(into, uintptr(got)*p.Size) // safe: there is room for n
		// Safe: the queue has these, and the record too.
		at, current := (*head)(record), (*head)(p.Head)
		at.status, at.id = current.status, current.id
		r := p.OnSuccess
		if at.status != 0 {
			r = p.OnFailure
		} else if p.Fill != 0 {
			// Safe: as in postPortable.
			callInt(p.Fill, uintptr(p.CQ), uintptr(unsafe.Add(record, p.FillAt)))
		}
		for ; r.Fn != 0; r = (*Read)(unsafe.Add(unsafe.Pointer(r), unsafe.Sizeof(*r))) { // safe: the list has an end
			*(*uintptr)(unsafe.Add(record, r.Result)), _ = callWord(r.Fn, uintptr(p.CQ)) // safe: the record has a word there
		}
		if got++; got == n {
			break
		}
		if result, reason = callInt(p.Next, uintptr(p.CQ)); result != 0 {
			break
		}
	}
	if result == 0 || !p.NextEnds {
		callInt(p.End, uintptr(p.CQ))
	}
	return got, result, int32(reason)
}

// head is what there is of a completion without a call.
type head struct {
	_      uint32
	status uint32
	id     uint64
}

// callPortable is call, likewise.
func callPortable(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32) {
	result, reason := callWord(fn, a, b, c, d, e, f)
	if int32(result) != -1 {
		reason = 0
	}
	return result, int32(reason)
}
