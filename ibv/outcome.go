package ibv

import "unsafe"

// PostRecvOutcome says what became of a call of C's ibv_post_recv that was made in
// another way than by this package: together with other calls, say. It is what
// [QP.PostRecv] returns. wr is the list that was posted, result what the function
// returned, errno what it left there, and bad the address that it left in bad_wr,
// which was 0 before the call.
func (qp *QP) PostRecvOutcome(wr *RecvWR, result, errno int32, bad uintptr) (*RecvWR, error) {
	p, err := recvFromRefused(unsafe.Pointer(wr), result, errno, bad)
	return (*RecvWR)(p), err
}

// PostRecvOutcome is [QP.PostRecvOutcome] for ibv_post_srq_recv.
func (srq *SRQ) PostRecvOutcome(wr *RecvWR, result, errno int32, bad uintptr) (*RecvWR, error) {
	p, err := srqRecvFromRefused(unsafe.Pointer(wr), result, errno, bad)
	return (*RecvWR)(p), err
}

// PollOutcome says what became of a call of C's ibv_poll_cq that was made in another
// way than by this package: see [QP.PostRecvOutcome]. asked is how many completions
// the function was to return at most, result what it returned, and errno what it
// left there. It is what [CQ.Poll] returns.
func (cq *CQ) PollOutcome(asked, result, errno int32) (int, error) {
	if uint32(result) <= uint32(asked) {
		return int(result), nil
	}
	return pollFailed(unsafe.Pointer(cq), result, errno, asked)
}
