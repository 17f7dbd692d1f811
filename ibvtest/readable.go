//go:build !freebsd

package ibvtest

import (
	"runtime/debug"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// isNotThere is how a work request is refused that is not there, or points to what is not: a provider of C's would end the
// program.
var isNotThere = Refusal{Errno: syscall.EFAULT}

// unreadable walks along a list of sends, and gives the first that cannot be read, with its entries and the data that it is
// to carry, as far as the device looks at them, or nil. No more of the list is looked at than the queue has room for.
func (qp *queuePair) unreadable(list *ibv.SendWR) (wr *ibv.SendWR) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if _, faulted := fault(recover()); !faulted {
			wr = nil
		}
	}()
	left := qp.sends.room()
	for wr = list; wr != nil && left > 0; wr, left = wr.Next, left-1 {
		inline := wr.SendFlags&ibv.SendInline != 0
		if entries := readEntries(wr.NumSGE, qp.init.Cap.MaxSendSGE, wr.SGList); inline {
			readData(entries, uint64(qp.init.Cap.MaxInlineData))
		}
	}
	return wr
}

// unreadable is that of receives.
func (q *recvQueue) unreadable(list *ibv.RecvWR) (wr *ibv.RecvWR) {
	was := debug.SetPanicOnFault(true)
	defer func() {
		debug.SetPanicOnFault(was)
		if _, faulted := fault(recover()); !faulted {
			wr = nil
		}
	}()
	left := q.room()
	for wr = list; wr != nil && left > 0; wr, left = wr.Next, left-1 {
		readEntries(wr.NumSGE, q.maxSGE, wr.SGList)
	}
	return wr
}

// room is how many work requests a post may take from here on, and one more.
func (s *slots) room() uint32 { return s.depth - min(s.taken, s.depth) + 1 }

// readEntries faults if entries that a device takes are not there.
func readEntries(n int32, most uint32, list *ibv.SGE) []ibv.SGE {
	if n <= 0 || uint32(n) > most || list == nil {
		return nil
	}
	entries := unsafe.Slice(list, n) // safe: the program says that as many are there
	touch(address(&entries[0]))
	touch(address(&entries[n-1]) + unsafe.Sizeof(ibv.SGE{}) - 1)
	return entries
}

// readData faults if the memory of entries is not there, unless it is more than can be carried.
func readData(entries []ibv.SGE, most uint64) {
	var n uint64
	for i := range entries {
		n += uint64(entries[i].Length)
	}
	if n > most {
		return
	}
	for _, e := range entries {
		if e.Length > 0 {
			touch(uintptr(e.Addr))
			touch(uintptr(e.Addr) + uintptr(e.Length) - 1)
		}
	}
}
