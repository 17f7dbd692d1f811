//go:build !freebsd

package ibv

import (
	"fmt"
	"time"
)

// WCFields says what an [ExtendedPoll] reads of completions that succeeded. Each
// one costs a call in C. The lower bits are those of [CreateCQWCFlags].
type WCFields uint32

// What can be read of a completion, besides WRID and Status.
const (
	WCFieldByteLen      = WCFields(WCExWithByteLen)
	WCFieldImm          = WCFields(WCExWithImm) // ImmData, or InvalidatedRKey
	WCFieldQPNum        = WCFields(WCExWithQPNum)
	WCFieldSrcQP        = WCFields(WCExWithSrcQP)
	WCFieldSLID         = WCFields(WCExWithSLID)
	WCFieldSL           = WCFields(WCExWithSL)
	WCFieldDLIDPathBits = WCFields(WCExWithDLIDPathBits)
	WCFieldCompletionTS = WCFields(WCExWithCompletionTimestamp)
	WCFieldCVLAN        = WCFields(WCExWithCVLAN)
	WCFieldFlowTag      = WCFields(WCExWithFlowTag)
	WCFieldTMInfo       = WCFields(WCExWithTMInfo)
	WCFieldWallclock    = WCFields(WCExWithCompletionTimestampWallclock)

	// Every extended completion queue has these.
	WCFieldOpcode  WCFields = 1 << 30
	WCFieldWCFlags WCFields = 1 << 31
)

// String lists the fields by C's names, and what has none as a number.
func (f WCFields) String() string {
	created := f &^ (WCFieldOpcode | WCFieldWCFlags)
	text := ""
	if f&WCFieldOpcode != 0 {
		text = "opcode"
	}
	if f&WCFieldWCFlags != 0 {
		text = joined(text, "wc_flags")
	}
	if created != 0 || text == "" {
		text = joined(text, CreateCQWCFlags(created).String())
	}
	return text
}

func joined(list, word string) string {
	if list == "" {
		return word
	}
	return list + "|" + word
}

// ExtendedWC is a completion, as an [ExtendedPoll] reads it. What it was not asked
// to read means nothing. Of a completion that failed, only WRID, Status, VendorErr
// and QPNum mean anything, the last if the queue was created with WCExWithQPNum:
// it is read then, asked for or not.
type ExtendedWC struct {
	compMask uint32
	// Status says whether the work succeeded, and how it failed.
	Status WCStatus
	// WRID is the work request's number.
	WRID uint64

	// What C's functions returned. What one returns is stored as the whole register, of
	// which C defines only so many bits: see [read]. The queue pair's number is in the
	// one of its places that no other result is written over, because an error names it
	// though the queue may not have it.
	qpNumLittleEndian                      register
	srcQP, opcode, wcFlags, byteLen, imm   register
	slid, sl, dlidPathBits, cvlan, flowTag register
	vendorErr                              register
	qpNumBigEndian                         register
	_                                      uint32
	ts, wallclock                          uint64

	tmInfo WCTMInfo
}

// Err is nil for a success, and a *CompletionError otherwise, whose QPNum means
// something if the queue was created with WCExWithQPNum.
func (s *ExtendedWC) Err() error {
	if s.Status == WCSuccess {
		return nil
	}
	return &CompletionError{WRID: s.WRID, Status: s.Status, VendorErr: s.VendorErr(), QPNum: s.QPNum()}
}

// String is a line about the completion, with what is known of it in any case.
func (s *ExtendedWC) String() string {
	if s == nil {
		return nilText
	}
	text := fmt.Sprintf("completion of work request with WRID %#x: %v", s.WRID, s.Status)
	if s.Status != WCSuccess {
		text += fmt.Sprintf(" (vendor error %#x)", s.VendorErr())
	}
	return text
}

// Opcode is what has completed; [WCFieldOpcode].
//
// C: ibv_wc_read_opcode
func (s *ExtendedWC) Opcode() WCOpcode { return WCOpcode(s.opcode) }

// VendorErr is the device's own word for how the work failed. It is read of every
// completion that did, and of no other.
//
// C: ibv_wc_read_vendor_err
func (s *ExtendedWC) VendorErr() uint32 { return uint32(s.vendorErr) }

// ByteLen is how many bytes were received; [WCFieldByteLen].
//
// C: ibv_wc_read_byte_len
func (s *ExtendedWC) ByteLen() uint32 { return uint32(s.byteLen) }

// ImmData is the sender's immediate data, if WCFlags has WCWithImm; [WCFieldImm].
//
// C: ibv_wc_read_imm_data
func (s *ExtendedWC) ImmData() BE32 { return BE32(uint32(s.imm)) }

// InvalidatedRKey is the key that the sender has made invalid, if WCFlags has
// WCWithInv; [WCFieldImm].
//
// C: ibv_wc_read_invalidated_rkey
func (s *ExtendedWC) InvalidatedRKey() uint32 { return uint32(s.imm) }

// QPNum is the queue pair; [WCFieldQPNum].
//
// C: ibv_wc_read_qp_num
func (s *ExtendedWC) QPNum() uint32 {
	if bigEndian {
		return uint32(s.qpNumBigEndian)
	}
	return uint32(s.qpNumLittleEndian)
}

// SrcQP is the queue pair that sent the message, on UD; [WCFieldSrcQP].
//
// C: ibv_wc_read_src_qp
func (s *ExtendedWC) SrcQP() uint32 { return uint32(s.srcQP) }

// WCFlags says what else there is; [WCFieldWCFlags].
//
// C: ibv_wc_read_wc_flags
func (s *ExtendedWC) WCFlags() WCFlags { return WCFlags(s.wcFlags) }

// SLID is the LID of the port that sent the message, on UD; [WCFieldSLID].
//
// C: ibv_wc_read_slid
func (s *ExtendedWC) SLID() uint32 { return uint32(s.slid) }

// SL is the message's service level, on UD; [WCFieldSL].
//
// C: ibv_wc_read_sl
func (s *ExtendedWC) SL() uint8 { return uint8(s.sl) }

// DLIDPathBits is the low bits of the LID that the message was sent to, on UD;
// [WCFieldDLIDPathBits].
//
// C: ibv_wc_read_dlid_path_bits
func (s *ExtendedWC) DLIDPathBits() uint8 { return uint8(s.dlidPathBits) }

// CompletionTS is what the device's clock showed when the work completed, in its
// own ticks; [WCFieldCompletionTS]. [Context.QueryDeviceEx] tells the rate of the
// clock, in kHz, by [DeviceAttrEx].HCACoreClock, and in CompletionTimestampMask which
// bits it has before it begins anew at 0.
//
// C: ibv_wc_read_completion_ts
func (s *ExtendedWC) CompletionTS() uint64 { return s.ts }

// Wallclock is when the work completed; [WCFieldWallclock].
//
// C: ibv_wc_read_completion_wallclock_ns; as a time
func (s *ExtendedWC) Wallclock() time.Time { return time.Unix(0, int64(s.wallclock)) }

// CVLAN is the customer's VLAN tag that was taken off the packet; [WCFieldCVLAN].
//
// C: ibv_wc_read_cvlan
func (s *ExtendedWC) CVLAN() uint16 { return uint16(s.cvlan) }

// FlowTag is what the rule of a flow has marked the packet with;
// [WCFieldFlowTag].
//
// C: ibv_wc_read_flow_tag
func (s *ExtendedWC) FlowTag() uint32 { return uint32(s.flowTag) }

// TMInfo is the tag of a message for tag matching, and the sender's number;
// [WCFieldTMInfo].
//
// C: ibv_wc_read_tm_info
func (s *ExtendedWC) TMInfo() WCTMInfo { return s.tmInfo }
