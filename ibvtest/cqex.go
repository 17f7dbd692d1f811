//go:build !freebsd

package ibvtest

import (
	"sync"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// extended is what an extended completion queue has besides.
type extended struct {
	timed         bool       // its completions tell when they came
	ignoreOverrun bool       // a completion for which there is no room takes that of the oldest
	polling       sync.Mutex // held from start_poll to end_poll
	current       completion // guarded by it, as what is in raw is
}

// createCQEx makes an extended queue.
func createCQEx(a ccall.Args) (uintptr, syscall.Errno) {
	c, attr := contextAt(a[0]), of[ibv.CQInitAttrEx](a[1])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	asked := attr.WCFlags
	for _, r := range readers {
		asked &^= uint64(r.asked)
	}
	switch {
	case attr.CompMask&^(ibv.CQInitAttrMaskFlags|ibv.CQInitAttrMaskPD) != 0:
		return null, syscall.EINVAL
	case asked != 0 || attr.CompMask&ibv.CQInitAttrMaskFlags != 0 && attr.Flags&^(ibv.CreateCQAttrSingleThreaded|ibv.CreateCQAttrIgnoreOverrun) != 0:
		return null, syscall.EOPNOTSUPP
	}
	cq, errno := c.newCQ(int64(attr.CQE), attr.CQContext, attr.Channel, int64(attr.CompVector))
	if errno != 0 {
		return null, errno
	}
	const times = ibv.WCExWithCompletionTimestamp | ibv.WCExWithCompletionTimestampWallclock
	cq.timed = ibv.CreateCQWCFlags(attr.WCFlags)&times != 0
	cq.ignoreOverrun = attr.CompMask&ibv.CQInitAttrMaskFlags != 0 && attr.Flags&ibv.CreateCQAttrIgnoreOverrun != 0
	cq.raw.StartPoll, cq.raw.NextPoll, cq.raw.EndPoll = opStartPoll, opNextPoll, opEndPoll
	for _, r := range readers {
		if r.asked == 0 || ibv.CreateCQWCFlags(attr.WCFlags)&r.asked != 0 {
			*(*ibv.FuncPtr)(unsafe.Add(unsafe.Pointer(&cq.raw), r.slot)) = r.fn // safe: the queue has a function there
		}
	}
	return address(&cq.raw), 0
}

var opCreateCQEx = operation("create_cq_ex", createCQEx)

var (
	opStartPoll = extendedPoll("start_poll", func(cq *completionQueue, a ccall.Args) (uintptr, syscall.Errno) {
		if cq.ctx.f.hooking.here() {
			return uintptr(syscall.EDEADLK), 0
		}
		cq.polling.Lock()
		result := uintptr(syscall.EINVAL)
		if attr := of[ibv.PollCQAttr](a[1]); attr == nil || attr.CompMask == 0 {
			result = cq.next()
		}
		if result != 0 {
			cq.polling.Unlock()
		}
		return result, 0
	})
	opNextPoll = extendedPoll("next_poll", func(cq *completionQueue, _ ccall.Args) (uintptr, syscall.Errno) {
		return cq.next(), 0
	})
	opEndPoll = extendedPoll("end_poll", func(cq *completionQueue, _ ccall.Args) (uintptr, syscall.Errno) {
		cq.polling.Unlock()
		return 0, 0
	})
)

// extendedPoll serves a function of an extended queue. Faults of control verbs do not meet those.
func extendedPoll(name string, fn func(cq *completionQueue, a ccall.Args) (uintptr, syscall.Errno)) ibv.FuncPtr {
	return serve(ccall.Served{Name: name, Call: func(a ccall.Args) (uintptr, syscall.Errno) {
		return fn(of[completionQueue](a[0]), a)
	}})
}

// next goes on to the next completion, or returns why there is none.
func (cq *completionQueue) next() uintptr {
	f := cq.ctx.f
	f.mu.Lock()
	defer f.mu.Unlock()
	if result, told := f.pollReturns(cq.ctx.dev, 1); told && result < 0 || cq.ended || cq.dead && cq.found.n == 0 {
		return uintptr(syscall.EIO)
	} else if told || cq.found.n == 0 {
		return uintptr(syscall.ENOENT)
	}
	cq.current = *cq.found.take()
	cq.current.polled()
	cq.raw.Status, cq.raw.WRID = cq.current.wc.Status, cq.current.wc.WRID
	return 0
}

// readers are the functions that read the current completion, and which flags of creation ask for them.
var readers = []struct {
	asked ibv.CreateCQWCFlags // 0 for what all queues have
	slot  uintptr
	fn    ibv.FuncPtr
}{
	{0, unsafe.Offsetof(ibv.CQEx{}.ReadOpcode), reader("read_opcode", func(c *completion) uintptr { return uintptr(c.wc.Opcode) })},
	{0, unsafe.Offsetof(ibv.CQEx{}.ReadVendorErr), reader("read_vendor_err", func(c *completion) uintptr { return uintptr(c.wc.VendorErr) })},
	{0, unsafe.Offsetof(ibv.CQEx{}.ReadWCFlags), reader("read_wc_flags", func(c *completion) uintptr { return uintptr(c.wc.WCFlags) })},
	{ibv.WCExWithByteLen, unsafe.Offsetof(ibv.CQEx{}.ReadByteLen), reader("read_byte_len", func(c *completion) uintptr { return uintptr(c.wc.ByteLen) })},
	{ibv.WCExWithImm, unsafe.Offsetof(ibv.CQEx{}.ReadImmData), reader("read_imm_data", func(c *completion) uintptr { return uintptr(c.wc.InvalidatedRKey()) })}, // as it is
	{ibv.WCExWithQPNum, unsafe.Offsetof(ibv.CQEx{}.ReadQPNum), reader("read_qp_num", func(c *completion) uintptr { return uintptr(c.wc.QPNum) })},
	{ibv.WCExWithSrcQP, unsafe.Offsetof(ibv.CQEx{}.ReadSrcQP), reader("read_src_qp", func(c *completion) uintptr { return uintptr(c.wc.SrcQP) })},
	{ibv.WCExWithSLID, unsafe.Offsetof(ibv.CQEx{}.ReadSLID), reader("read_slid", func(c *completion) uintptr { return uintptr(c.wc.SLID) })},
	{ibv.WCExWithSL, unsafe.Offsetof(ibv.CQEx{}.ReadSL), reader("read_sl", func(c *completion) uintptr { return uintptr(c.wc.SL) })},
	{ibv.WCExWithDLIDPathBits, unsafe.Offsetof(ibv.CQEx{}.ReadDLIDPathBits), reader("read_dlid_path_bits", func(c *completion) uintptr { return uintptr(c.wc.DLIDPathBits) })},
	{ibv.WCExWithCompletionTimestamp, unsafe.Offsetof(ibv.CQEx{}.ReadCompletionTS), reader("read_completion_ts", func(c *completion) uintptr { return uintptr(c.at) })},
	{ibv.WCExWithCompletionTimestampWallclock, unsafe.Offsetof(ibv.CQEx{}.ReadCompletionWallclockNS), reader("read_completion_wallclock_ns", func(c *completion) uintptr { return uintptr(c.at) })},
}

func reader(name string, read func(c *completion) uintptr) ibv.FuncPtr {
	return extendedPoll(name, func(cq *completionQueue, _ ccall.Args) (uintptr, syscall.Errno) { return read(&cq.current), 0 })
}

// loseOldest makes room for a completion where an overrun is to be ignored.
func (cq *completionQueue) loseOldest() bool {
	if cq.ignoreOverrun {
		cq.found.take().polled()
	}
	return cq.ignoreOverrun
}
