//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// QueryCompCntrCaps asks what completion counters the device has, as far as this
// package's struct can tell. It may be called from any goroutine.
//
// C: ibv_query_comp_cntr_caps(3), _ibv_query_comp_cntr_caps
func (ctx *Context) QueryCompCntrCaps() (CompCntrCaps, error) {
	caps := new(CompCntrCaps)
	err := cQueryCompCntrCaps(ctx, caps, uint64(unsafe.Sizeof(*caps)))
	if err != nil {
		return CompCntrCaps{}, ctx.action("query what completion counters can do", nil).from(err)
	}
	return *caps, nil
}

// CreateCompCntr makes a completion counter: it counts the work that completes on
// the queue pairs it is attached to ([QP.AttachCompCntr]), beside or in place of
// completions, and what fails apart. The caller closes it, after the queue pairs.
// It may be called from any goroutine.
//
// C: ibv_create_comp_cntr(3)
func (ctx *Context) CreateCompCntr(attr CompCntrInitAttr) (*CompCntr, error) {
	c := new(CompCntrInitAttr)
	*c = attr
	cntr, err := cCreateCompCntr(ctx, c)
	return cntr, ctx.action("create completion counter", numberHints).from(err)
}

// Close destroys the counter. The queue pairs that it is attached to must be closed
// before.
//
// C: ibv_destroy_comp_cntr(3)
func (s *CompCntr) Close() error { return s.action("destroy", closeHints).from(cDestroyCompCntr(s)) }

// Set sets the count of what has completed. It may be called from any goroutine, as
// may the methods that follow.
//
// C: ibv_set_comp_cntr(3)
func (s *CompCntr) Set(value uint64) error {
	return s.action("set", cntrHints).from(cSetCompCntr(s, value))
}

// SetErr sets the count of what has failed.
//
// C: ibv_set_err_comp_cntr(3)
func (s *CompCntr) SetErr(value uint64) error {
	return s.action("set errors of", cntrHints).from(cSetErrCompCntr(s, value))
}

// Inc adds to the count of what has completed.
//
// C: ibv_inc_comp_cntr(3)
func (s *CompCntr) Inc(amount uint64) error {
	return s.action("increment", cntrHints).from(cIncCompCntr(s, amount))
}

// IncErr adds to the count of what has failed.
//
// C: ibv_inc_err_comp_cntr(3)
func (s *CompCntr) IncErr(amount uint64) error {
	return s.action("increment errors of", cntrHints).from(cIncErrCompCntr(s, amount))
}

// Read is the count of what has completed.
//
// C: ibv_read_comp_cntr(3)
func (s *CompCntr) Read() (uint64, error) {
	value := new(uint64)
	err := cReadCompCntr(s, value)
	return *value, s.action("read", nil).from(err)
}

// ReadErr is the count of what has failed.
//
// C: ibv_read_err_comp_cntr(3)
func (s *CompCntr) ReadErr() (uint64, error) {
	value := new(uint64)
	err := cReadErrCompCntr(s, value)
	return *value, s.action("read errors of", nil).from(err)
}

// String is a line about the completion counter.
func (s *CompCntr) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("completion counter (handle %d)", s.Handle)
}

// action names the counter in the errors of an operation.
func (s *CompCntr) action(op string, hints map[syscall.Errno]string) action {
	return s.Context.action(op+" "+s.String(), hints)
}

// AttachCompCntr lets the counter count the operations of the queue pair that
// attr.OpMask names, while the queue pair is in RESET or INIT. Closing the queue
// pair ends it. It may be called from any goroutine.
//
// C: ibv_qp_attach_comp_cntr(3)
func (qp *QP) AttachCompCntr(cntr *CompCntr, attr QPAttachCompCntrAttr) error {
	act := qp.action("attach a completion counter to", map[syscall.Errno]string{
		syscall.EINVAL: "the device does not count these operations: see QueryCompCntrCaps; or the queue pair is no longer in RESET or INIT",
		syscall.EBUSY:  "one of the operations has a counter already",
	})
	if cntr == nil || cntr.Context != qp.Context {
		return act.invalid("the counter is nil or belongs to a different context")
	}
	c := new(QPAttachCompCntrAttr)
	*c = attr
	return act.from(cQPAttachCompCntr(qp, cntr, c))
}

var cntrHints = map[syscall.Errno]string{
	syscall.EINVAL: "the value is above what the counter can hold: see QueryCompCntrCaps",
}
