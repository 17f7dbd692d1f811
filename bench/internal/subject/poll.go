package subject

import (
	"unsafe"

	"github.com/ebitengine/purego"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
)

// pollEmpty finds no completion, with room for wrs.
func pollEmpty(d device.Device, wrs int) []*Subject {
	return share(Subject{Op: PollEmpty, WRs: wrs, Calls: d.RecvRoom()}, pollers(d, wrs, 0))
}

// poll finds wrs completions each time.
func poll(d device.Device, wrs int) []*Subject {
	calls := d.RecvRoom() / wrs
	return share(Subject{
		Op: Poll, WRs: wrs, Calls: calls,
		before: func() error { return d.Complete(calls * wrs) },
		again:  d.DropCompletions,
	}, pollers(d, wrs, wrs))
}

// pollers poll with room for so many completions, and expect to get so many.
func pollers(d device.Device, room, want int) []variant {
	cq, wcs := d.CQ(), make([]ibv.WC, room)
	return []variant{
		{C, func(n int) (int, int64) { return native.Poll(cq, wcs, want, n) }},
		{Goverbs, timed(func(n int) int {
			for i := range n {
				if got, err := cq.Poll(wcs); got != want || err != nil {
					return i
				}
			}
			return n
		})},
		handlePoll(d, wcs, want),
		{Cgo, timed(func(n int) int { return native.PollWords(cq, wcs, want, n) })},
		{CgoTyped, timed(func(n int) int { return native.PollTyped(cq, wcs, want, n) })},
		{Purego, timed(func(n int) int {
			fn := uintptr(cq.Context.Ops.PollCQ)
			for i := range n {
				// Safe: SyscallN keeps what its arguments point to.
				got, _, _ := purego.SyscallN(fn, uintptr(unsafe.Pointer(cq)), uintptr(len(wcs)), uintptr(unsafe.Pointer(&wcs[0])))
				if int32(got) != int32(want) {
					return i
				}
			}
			return n
		})},
	}
}
