//go:build !freebsd

package ibv

import "syscall"

var eceHints = map[syscall.Errno]string{
	syscall.EOPNOTSUPP: "the device's provider or this libibverbs has no extensions to connections",
	syscall.EINVAL:     "an option is not known, or comes too late in the queue pair's life",
}

// QueryECE asks for the extensions to its connection that a queue pair has, or can
// have. Two peers tell each other theirs while they connect. It may be called from
// any goroutine.
//
// C: ibv_query_ece(3)
func (qp *QP) QueryECE() (ECE, error) {
	ece := new(ECE)
	err := qp.Context.action("query connection extensions", eceHints).from(cQueryECE(qp, ece))
	return *ece, err
}

// SetECE asks for extensions, and changes ece to those that were accepted. They
// are made use of when the queue pair changes its state. ece.VendorID must not
// be 0. It may be called from any goroutine.
//
// C: ibv_set_ece(3)
func (qp *QP) SetECE(ece *ECE) error {
	act := qp.Context.action("set connection extensions", eceHints)
	if ece == nil {
		return act.invalid("the extensions are missing")
	}
	return act.from(cSetECE(qp, ece))
}
