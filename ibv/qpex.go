//go:build !freebsd

package ibv

import "syscall"

// Ex is the queue pair as one whose send queue takes a [Batch]. It is the same
// object: closing qp closes it. The error is syscall.EOPNOTSUPP if the queue pair
// was not created by [Context.CreateQPEx], or the provider has nothing of the kind.
// It may be called from any goroutine.
//
// C: ibv_qp_to_qp_ex; NULL is an error
func (qp *QP) Ex() (*QPEx, error) {
	act := qp.action("take as extended", nil)
	ex, err := cQPToQPEx(qp)
	if err != nil {
		return nil, act.from(err)
	}
	if ex == nil {
		return nil, act.because(syscall.EOPNOTSUPP, "it was not created as extended: Context.CreateQPEx makes such a queue pair, if SendOpsFlags names its operations and CompMask has QPInitAttrSendOpsFlags")
	}
	return ex, nil
}

// String is a line about the queue pair.
func (s *QPEx) String() string {
	if s == nil {
		return nilText
	}
	return "extended " + s.QPBase.String()
}
