//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() {
	symbols["ibv_modify_qp"] = modifyQP
	symbols["ibv_query_qp"] = queryQP
}

func modifyQP(a ccall.Args) (uintptr, syscall.Errno) {
	handle, attr, mask := of[queuePair](a[0]), of[ibv.QPAttr](a[1]), ibv.QPAttrMask(uint32(a[2]))
	qp := handle.itself()
	mask &^= unused[qp.raw.QPBase.QPType]
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	if errno := qp.refusesMask(attr, mask); errno != 0 {
		return uintptr(errno), 0
	}
	if errno := qp.refusesValues(attr, mask); errno != 0 {
		return uintptr(errno), 0
	}
	qp.set(attr, mask)
	if mask&ibv.QPAttrMaskState != 0 {
		if attr.QPState == ibv.QPSReset {
			qp.attr = ibv.QPAttr{}
		}
		qp.enter(attr.QPState)
		if attr.QPState == ibv.QPSErr {
			qp.peers.stop()
		}
	}
	handle.tell()
	return 0, 0
}

// refusesMask is why a change of attributes is none that the state has, or 0.
func (qp *queuePair) refusesMask(attr *ibv.QPAttr, mask ibv.QPAttrMask) syscall.Errno {
	change := transition{qp.now, qp.now}
	if mask&ibv.QPAttrMaskState != 0 {
		change.to = attr.QPState
	}
	taken, is := takenBy(qp.raw.QPBase.QPType, change)
	mask &^= ibv.QPAttrMaskState
	if !is || taken.must&^mask != 0 || mask&^(taken.must|taken.may) != 0 {
		return syscall.EINVAL
	}
	return 0
}

// refusesValues is why the device does not take a value, or 0.
func (qp *queuePair) refusesValues(attr *ibv.QPAttr, mask ibv.QPAttrMask) syscall.Errno {
	d, number := qp.ctx.dev, uint32(qp.attr.PortNum)
	if mask&ibv.QPAttrMaskPort != 0 {
		number = uint32(attr.PortNum)
		if d.port(number) == nil {
			return syscall.EINVAL
		}
	}
	p := d.port(number)
	for _, v := range []struct {
		bit   ibv.QPAttrMask
		wrong bool
	}{
		{ibv.QPAttrMaskCurState, attr.CurQPState != qp.now},
		{ibv.QPAttrMaskPKeyIndex, p != nil && attr.PKeyIndex >= p.attr.PKeyTblLen},
		{ibv.QPAttrMaskPathMTU, attr.PathMTU < ibv.MTU256 || p != nil && attr.PathMTU > p.attr.ActiveMTU},
		{ibv.QPAttrMaskDestQPN, attr.DestQPNum>>24 != 0},
		{ibv.QPAttrMaskTimeout, attr.Timeout>>5 != 0},
		{ibv.QPAttrMaskRetryCnt, attr.RetryCnt>>3 != 0},
		{ibv.QPAttrMaskRNRRetry, attr.RNRRetry>>3 != 0},
		{ibv.QPAttrMaskMinRNRTimer, attr.MinRNRTimer>>5 != 0},
		{ibv.QPAttrMaskMaxQPRdAtomic, int32(attr.MaxRdAtomic) > d.attr.MaxQPInitRdAtom},
		{ibv.QPAttrMaskMaxDestRdAtomic, int32(attr.MaxDestRdAtomic) > d.attr.MaxQPRdAtom},
		{ibv.QPAttrMaskPathMigState, attr.PathMigState > ibv.MigArmed},
		// The way starts at the queue pair's port.
		{ibv.QPAttrMaskAV, uint32(attr.AHAttr.PortNum) != number},
		// RoCE has no alternate paths.
		{ibv.QPAttrMaskAltPath, !d.f.infiniband || attr.AltTimeout>>5 != 0 || attr.AltPortNum != attr.AltAHAttr.PortNum},
	} {
		if mask&v.bit != 0 && v.wrong {
			return syscall.EINVAL
		}
	}
	if mask&ibv.QPAttrMaskAV != 0 {
		if errno := d.refusesWay(&attr.AHAttr); errno != 0 {
			return errno
		}
	}
	if mask&ibv.QPAttrMaskAltPath != 0 {
		return d.refusesWay(&attr.AltAHAttr)
	}
	return 0
}

// set takes over the attributes that mask names.
func (qp *queuePair) set(attr *ibv.QPAttr, mask ibv.QPAttrMask) {
	if mask&ibv.QPAttrMaskState != 0 && attr.QPState == ibv.QPSSQD {
		qp.attr.EnSQDAsyncNotify = 0 // who wants to hear of it asks each time
	}
	const psn = 1<<24 - 1 // what is above is dropped, as the packets' field has it
	for bit := ibv.QPAttrMask(1); bit <= mask; bit <<= 1 {
		switch now := &qp.attr; mask & bit {
		case ibv.QPAttrMaskEnSQDAsyncNotify:
			now.EnSQDAsyncNotify = attr.EnSQDAsyncNotify
		case ibv.QPAttrMaskAccessFlags:
			now.QPAccessFlags = attr.QPAccessFlags
		case ibv.QPAttrMaskPKeyIndex:
			now.PKeyIndex = attr.PKeyIndex
		case ibv.QPAttrMaskPort:
			now.PortNum = attr.PortNum
		case ibv.QPAttrMaskQKey:
			now.QKey = attr.QKey
		case ibv.QPAttrMaskAV:
			now.AHAttr = attr.AHAttr
		case ibv.QPAttrMaskPathMTU:
			now.PathMTU = attr.PathMTU
		case ibv.QPAttrMaskTimeout:
			now.Timeout = attr.Timeout
		case ibv.QPAttrMaskRetryCnt:
			now.RetryCnt = attr.RetryCnt
		case ibv.QPAttrMaskRNRRetry:
			now.RNRRetry = attr.RNRRetry
		case ibv.QPAttrMaskRQPSN:
			now.RQPSN = attr.RQPSN & psn
		case ibv.QPAttrMaskMaxQPRdAtomic:
			now.MaxRdAtomic = attr.MaxRdAtomic
		case ibv.QPAttrMaskAltPath:
			now.AltAHAttr, now.AltPKeyIndex, now.AltPortNum, now.AltTimeout = attr.AltAHAttr, attr.AltPKeyIndex, attr.AltPortNum, attr.AltTimeout
		case ibv.QPAttrMaskMinRNRTimer:
			now.MinRNRTimer = attr.MinRNRTimer
		case ibv.QPAttrMaskSQPSN:
			now.SQPSN = attr.SQPSN & psn
		case ibv.QPAttrMaskMaxDestRdAtomic:
			now.MaxDestRdAtomic = attr.MaxDestRdAtomic
		case ibv.QPAttrMaskPathMigState:
			now.PathMigState = attr.PathMigState
		case ibv.QPAttrMaskDestQPN:
			now.DestQPNum = attr.DestQPNum
		}
	}
}

// tell writes the state to where C's library has it for the program. The race detector sees nothing of what a library
// writes, and a program may ask for the state while another goroutine looks there.
//
//go:norace
func (qp *queuePair) tell() { qp.raw.QPBase.State = qp.itself().now }

func queryQP(a ccall.Args) (uintptr, syscall.Errno) {
	handle := of[queuePair](a[0])
	handle.ctx.f.mu.Lock()
	defer handle.ctx.f.mu.Unlock()
	handle.tell()
	qp := handle.itself()
	attr := qp.attr
	attr.QPState, attr.CurQPState, attr.Cap = qp.now, qp.now, qp.init.Cap
	if qp.draining() {
		attr.SQDraining = 1
	}
	*of[ibv.QPAttr](a[1]), *of[ibv.QPInitAttr](a[3]) = attr, qp.init
	return 0, 0
}
