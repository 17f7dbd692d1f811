package ibv

import (
	"fmt"
	"math/bits"
	"syscall"
	"unsafe"
)

// CreateRWQIndTable makes a table of work queues, over which a queue pair made with
// it spreads packets by a hash (RSS): see [Context.CreateQPEx]. The number of
// entries is a power of two, and a queue may stand in several. The caller closes
// it, after the queue pair. It may be called from any goroutine.
//
// C: ibv_create_rwq_ind_table(3)
func (ctx *Context) CreateRWQIndTable(wqs []*WQ) (*RWQIndTable, error) {
	act := ctx.action("create indirection table of work queues", map[syscall.Errno]string{
		syscall.EINVAL: "it has more entries than the device can do: see RSSCaps",
	})
	if n := len(wqs); bits.OnesCount(uint(n)) != 1 {
		return nil, act.invalid("it has %d entries: their number is a power of two", n)
	}
	for i, wq := range wqs {
		if wq == nil || wq.Context != ctx {
			return nil, act.invalid("entry %d is nil or belongs to a different context", i)
		}
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.CreateRWQIndTable))
	c := &RWQIndTableInitAttr{LogIndTblSize: uint32(bits.TrailingZeros(uint(len(wqs)))), IndTbl: unsafe.SliceData(wqs)}
	table, err := callVerbsContextCreateRWQIndTable(fn, ctx, c)
	return table, act.from(err)
}

// Close destroys the table. The queue pairs that were made with it must be closed
// before.
//
// C: ibv_destroy_rwq_ind_table(3)
func (s *RWQIndTable) Close() error {
	act := s.Context.action("destroy indirection table of work queues", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.DestroyRWQIndTable))
	return act.from(callVerbsContextDestroyRWQIndTable(fn, s))
}

// String is a line about the table.
func (s *RWQIndTable) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("indirection table of work queues %#x", s.IndTblNum)
}
