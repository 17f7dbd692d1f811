package ibv

import (
	"fmt"
	"unsafe"
)

// GRHLength is the number of bytes at the start of every receive on a UD queue
// pair that belong to the global routing header. They are there even when there
// is no header in them: the payload starts behind them, always.
const GRHLength = 40

// CompletionError is work that failed. Only the fields here mean anything in a
// completion that is not a success.
type CompletionError struct {
	WRID      uint64   // the work request's number
	Status    WCStatus // how it failed
	VendorErr uint32   // the device's own word for it
	QPNum     uint32   // the queue pair
}

// Error says which work request failed, and how.
func (e *CompletionError) Error() string {
	text := fmt.Sprintf("ibv: work request with WRID %#x on queue pair %#x failed: %v (vendor error %#x)", e.WRID, e.QPNum, e.Status, e.VendorErr)
	if hint := statusHints[e.Status]; hint != "" {
		text += "; " + hint
	}
	return text
}

var statusHints = map[WCStatus]string{
	WCLocLenErr:      "the message is longer than the buffers of the receive, or than the port allows",
	WCLocProtErr:     "a scatter/gather entry is outside its memory region, its lkey is wrong, or the region lacks local write access",
	WCLocQPOpErr:     "the work request does not fit the queue pair, as a read on UC; Soft-RoCE says so, too, of a wrong lkey, and of a receive whose buffers are too small, outside their region, or without local write access",
	WCMWBindErr:      "the memory window was not bound: its region needs AccessMWBind, and local write access for a window that peers may write to; the range must be in the region, and both of one protection domain",
	WCRemOpErr:       "the peer could not do its part: its own completion says why",
	WCWRFlushErr:     "the queue pair is in the error state: it was moved there, or an earlier completion says why; Soft-RoCE since Linux 6.4 says no more of a send that is wrong itself, such as its lkey",
	WCRemInvReqErr:   "the peer refused the request: its queue pair's access flags (QPAccessFlags) do not allow it, or it is too long for the receive buffers",
	WCRemAccessErr:   "the peer refused the access: wrong rkey, outside the region, or without the access flag",
	WCRetryExcErr:    "the peer did not answer: it is down, unreachable, or its queue pair is not ready to receive; Soft-RoCE says so, too, of one that had no receive posted for that long",
	WCRNRRetryExcErr: "the peer had no receive work request posted",
}

// String is a line about the completion. Of one that failed, it has the fields of
// [CompletionError], for the others mean nothing then.
func (s WC) String() string {
	text := fmt.Sprintf("completion of work request with WRID %#x on queue pair %#x: %v", s.WRID, s.QPNum, s.Status)
	if s.Status != WCSuccess {
		return fmt.Sprintf("%s (vendor error %#x)", text, s.VendorErr)
	}
	text += fmt.Sprintf(", %v", s.Opcode)
	if s.Opcode&WCRecv != 0 || s.Opcode == WCRDMARead {
		text += fmt.Sprintf(", %d bytes", s.ByteLen)
	}
	switch {
	case s.WCFlags&WCWithImm != 0:
		text += fmt.Sprintf(", immediate data %#x", s.ImmData().Host())
	case s.WCFlags&WCWithInv != 0:
		text += fmt.Sprintf(", rkey %#x invalidated", s.InvalidatedRKey())
	}
	if s.WCFlags&WCGRH != 0 {
		text += fmt.Sprintf(", with a GRH, from queue pair %#x", s.SrcQP)
	}
	return text
}

// Err is nil for a success, and a *CompletionError otherwise.
func (s *WC) Err() error {
	if s.Status == WCSuccess {
		return nil
	}
	return &CompletionError{WRID: s.WRID, Status: s.Status, VendorErr: s.VendorErr, QPNum: s.QPNum}
}

// UDPayload is the message that a receive on a UD queue pair put into buf, the
// receive's buffer: what follows the [GRHLength] bytes of the header. It is a
// part of buf, not a copy. The error is a failed completion's, or says that buf
// is not the buffer of this completion.
func (s *WC) UDPayload(buf []byte) ([]byte, error) {
	if err := s.Err(); err != nil {
		return nil, err
	}
	if s.ByteLen < GRHLength || int(s.ByteLen) > len(buf) {
		return nil, fmt.Errorf("ibv: UD payload of work request with WRID %#x: %d bytes were received, which do not fit a buffer of %d with %d bytes of header; pass the buffer that was posted",
			s.WRID, s.ByteLen, len(buf), GRHLength)
	}
	return buf[GRHLength:s.ByteLen], nil
}

// UDHeader is the global routing header at the start of buf, the buffer of a
// receive on a UD queue pair; ok tells whether there is one, for a packet
// inside an InfiniBand subnet may have none, and a completion that failed says
// nothing. Over IPv4 the packet's header is in the last 20 of its bytes, and the
// fields of a GRH mean nothing.
func (s *WC) UDHeader(buf []byte) (grh GRH, ok bool) {
	if s.Status != WCSuccess || s.WCFlags&WCGRH == 0 || s.ByteLen < GRHLength || len(buf) < GRHLength {
		return GRH{}, false
	}
	// Safe: only grh is seen as bytes, all of it.
	copy((*[GRHLength]byte)(unsafe.Pointer(&grh))[:], buf)
	return grh, true
}
