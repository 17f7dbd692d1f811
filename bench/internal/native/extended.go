package native

/*
#include "loops.h"
*/
import "C"

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// Write is an RDMA write, C's struct write.
type Write struct {
	WRID, RemoteAddr, Addr uint64
	Flags                  ibv.SendFlags
	RKey, LKey, Length     uint32
}

// Completion is what is read of a completion, C's struct completion.
type Completion C.struct_completion

// Batch posts all writes at once, in C. It is called as goverbs calls C, for the reason that [Loop] is.
func Batch(qp *ibv.QPEx, writes []Write, n int) (good int, ticks int64) {
	result := new(C.struct_calls)
	// Safe: the types are the same C structs, and Call keeps what its arguments point to.
	ccall.Call(uintptr(C.batch_loop), uintptr(unsafe.Pointer(qp)), uintptr(unsafe.Pointer(&writes[0])), uintptr(len(writes)), uintptr(n), uintptr(unsafe.Pointer(result)), 0)
	return of(*result)
}

// BatchAborted begins all writes, and gives up, in C.
func BatchAborted(qp *ibv.QPEx, writes []Write, n int) (good int, ticks int64) {
	return of(C.batch_aborted_loop((*C.struct_ibv_qp_ex)(unsafe.Pointer(qp)), (*C.struct_write)(unsafe.Pointer(&writes[0])), C.long(len(writes)), C.long(n)))
}

// ExtendedPoll polls in C for len(into) completions, and expects so many each time.
func ExtendedPoll(cq *ibv.CQEx, into []Completion, n int) (good int, ticks int64) {
	return of(C.extended_poll_loop((*C.struct_ibv_cq_ex)(unsafe.Pointer(cq)), (*C.struct_completion)(unsafe.Pointer(&into[0])), C.long(len(into)), C.long(n)))
}
