//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// queuePair is a queue pair.
type queuePair struct {
	raw    ibv.QPEx // first: C's, which begins with struct ibv_qp
	ctx    *context
	pd     *domain
	init   ibv.QPInitAttr
	attr   ibv.QPAttr
	sendCQ *completionQueue
	recvCQ *completionQueue

	sends    []*sendWork
	receives []*recvWork
}

func init() {
	symbols["ibv_create_qp"] = createQP
	symbols["ibv_destroy_qp"] = destroyQP
	symbols["ibv_modify_qp"] = modifyQP
	symbols["ibv_query_qp"] = queryQP
}

func createQP(a ccall.Args) (uintptr, syscall.Errno) {
	pd, attr := of[domain](a[0]), of[ibv.QPInitAttr](a[1])
	f, d := pd.ctx.f, pd.ctx.dev
	f.mu.Lock()
	defer f.mu.Unlock()
	qp := &queuePair{ctx: pd.ctx, pd: pd, init: *attr}
	// Safe: both queues are of ours.
	qp.sendCQ, qp.recvCQ = ofPointer[completionQueue](unsafe.Pointer(attr.SendCQ)), ofPointer[completionQueue](unsafe.Pointer(attr.RecvCQ))
	raw := &qp.raw.QPBase
	raw.Context, raw.QPContext, raw.PD, raw.SendCQ, raw.RecvCQ, raw.SRQ = pd.raw.Context, attr.QPContext, &pd.raw, attr.SendCQ, attr.RecvCQ, attr.SRQ
	raw.Handle, raw.QPNum, raw.QPType, raw.State = d.handle(), d.nextQP, attr.QPType, ibv.QPSReset
	d.queuePairs[d.nextQP] = qp
	d.nextQP++
	return address(raw), 0
}

func destroyQP(a ccall.Args) (uintptr, syscall.Errno) {
	qp := of[queuePair](a[0])
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	delete(qp.ctx.dev.queuePairs, qp.raw.QPBase.QPNum)
	return 0, 0
}

func modifyQP(a ccall.Args) (uintptr, syscall.Errno) {
	qp, attr, mask := of[queuePair](a[0]), of[ibv.QPAttr](a[1]), ibv.QPAttrMask(a[2])
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	if mask&ibv.QPAttrMaskDestQPN != 0 {
		qp.attr.DestQPNum = attr.DestQPNum
	}
	if mask&ibv.QPAttrMaskPort != 0 {
		qp.attr.PortNum = attr.PortNum
	}
	if mask&ibv.QPAttrMaskAV != 0 {
		qp.attr.AHAttr = attr.AHAttr
	}
	if mask&ibv.QPAttrMaskState != 0 {
		qp.attr.QPState, qp.raw.QPBase.State = attr.QPState, attr.QPState
	}
	return 0, 0
}

func queryQP(a ccall.Args) (uintptr, syscall.Errno) {
	qp := of[queuePair](a[0])
	qp.ctx.f.mu.Lock()
	defer qp.ctx.f.mu.Unlock()
	*of[ibv.QPAttr](a[1]), *of[ibv.QPInitAttr](a[3]) = qp.attr, qp.init
	return 0, 0
}
