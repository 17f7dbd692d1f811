// Package stub is a provider without a device: a queue pair, a shared receive
// queue and a completion queue whose posts do in C what Soft-RoCE's do. It is
// for measuring on machines without a device, and at the host's own speed.
package stub

/*
#cgo CFLAGS: -O2 -Wall
#include "stub.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// Provider has one of each object. One goroutine at a time may let the device
// work; posts and polls are as free as any provider's.
type Provider struct{ c *C.struct_stub }

// New makes a provider whose queues have room for 1<<order entries, with up to
// maxSGE scatter/gather entries each. The caller closes it.
func New(order, maxSGE uint) (*Provider, error) {
	c := C.stub_new(C.uint(order), C.uint(maxSGE))
	if c == nil {
		return nil, errors.New("stub: no memory for the queues")
	}
	return &Provider{c}, nil
}

// Close frees the objects.
func (p *Provider) Close() { C.stub_free(p.c) }

// QP is the queue pair. Safe, like the next two: cgo's type and ibv's are both
// C's struct, and the object is in C's memory until Close.
func (p *Provider) QP() *ibv.QP { return (*ibv.QP)(unsafe.Pointer(C.stub_qp(p.c))) }

// SRQ is the shared receive queue, which the queue pair does not use.
func (p *Provider) SRQ() *ibv.SRQ { return (*ibv.SRQ)(unsafe.Pointer(C.stub_srq(p.c))) }

// CQ is the completion queue.
func (p *Provider) CQ() *ibv.CQ { return (*ibv.CQ)(unsafe.Pointer(C.stub_cq(p.c))) }

// QPEx has the queue pair's send queue, for RDMA writes in batches. Safe, like the
// next one: as QP.
func (p *Provider) QPEx() *ibv.QPEx { return (*ibv.QPEx)(unsafe.Pointer(C.stub_qp_ex(p.c))) }

// CQEx is the completion queue as an extended one.
func (p *Provider) CQEx() *ibv.CQEx { return (*ibv.CQEx)(unsafe.Pointer(C.stub_cq_ex(p.c))) }

// TakeRecvs empties the receive queue, as a device would, and returns how many
// work requests were in it.
func (p *Provider) TakeRecvs() int { return int(C.stub_take_recvs(p.c)) }

// TakeSRQRecvs empties the shared receive queue.
func (p *Provider) TakeSRQRecvs() int { return int(C.stub_take_srq_recvs(p.c)) }

// TakeSends empties the send queue.
func (p *Provider) TakeSends() int { return int(C.stub_take_sends(p.c)) }

// Complete puts n completions onto the completion queue, or as many as it has
// room for.
func (p *Provider) Complete(n int) { C.stub_complete(p.c, C.uint(n)) }

// NeverFull has posts never find a full queue from now on, as if a device were
// fast enough for any.
func (p *Provider) NeverFull() { C.stub_never_full(p.c) }
