package model

import "github.com/goverbs/goverbs/ibv"

// Latitude is where devices differ: what the specification leaves open, and where
// what a device does is known not to be what it says. The zero Latitude is the
// specification's own answer.
//
// Beyond these, the following is left open for every device, by the specification.
//
//   - Room: a queue takes as many work requests as its capability says, and may take
//     more, because providers round up; but then always as many. A send that reports
//     nothing holds its place until a later one has been reported.
//   - Which errno refuses a post: EINVAL or ENOMEM of too many entries or too much inline
//     data, for providers differ there, and ENOMEM of a full queue.
//   - Which fields of a completion mean anything: of one that failed the number, the
//     status and the queue pair; of sends and writes not the length.
//   - Memory: what a receive or a read that failed was to fill may be anything, as may
//     the first 40 bytes of a datagram's receive, and what is copied onto itself.
//   - The order of completions of different queues on one completion queue.
//
// And these are not tried at all, because nothing defines what comes of them, or
// because it ends the process; Undefined says so where it meets one.
//
//   - Completion queues that overrun.
//   - A queue pair that was reset, with a peer that was not: numbers of packets
//     from before meet those from after.
//   - Two that wait for one shared receive queue: which gets the receive is
//     chance.
//   - Mistakes of both ends in one read, in what no byte of a message reaches,
//     or in messages of more than one packet.
//   - Datagrams longer than the port's MTU, or than their receive, and messages
//     on UC longer than theirs.
//   - Entries of no bytes, which are 2 GiB to some devices.
//   - Operations on datagram queue pairs that are not sends: providers follow
//     the address handle, which is not there.
//   - Reads by a queue pair with a MaxRdAtomic of 0: Soft-RoCE waits for ever.
//   - Windows of what was flushed, invalidating what is not bound, and binding
//     behind a send that waits.
//   - Resetting or destroying a queue pair that has windows: what becomes of
//     them is the provider's.
//   - Calls on what was destroyed: in C that is memory that was given back.
type Latitude struct {
	// LocalOperation: work with a wrong local key ends with IBV_WC_LOC_QP_OP_ERR, as may
	// a receive that is too small, and its sender then with IBV_WC_REM_OP_ERR. Soft-RoCE,
	// which tells these mistakes from others late.
	LocalOperation bool
	// FlushesLate: what is posted to a queue pair in ERR may be flushed only by the next
	// move to ERR. Soft-RoCE, where a receive is posted without the kernel's hearing of it,
	// and which at times does not hear of a send.
	FlushesLate bool
	// KeepsRefusedSends: sends that are refused for the queue pair's state are in the
	// queue all the same, and go out later. Soft-RoCE, whose kernel refuses them after
	// the library has written them. They are not tried there.
	KeepsRefusedSends bool
	// RetriesForEver: a RetryCnt of 7 is for ever. Soft-RoCE. It is not tried there when
	// nobody answers.
	RetriesForEver bool
	// NotReadyIsNoAnswer: a send that finds no receive may end as one that nobody answers
	// does. Soft-RoCE, which counts the time that it waits for a receive against the other
	// limit, too.
	NotReadyIsNoAnswer bool
	// TellsReceiveOfRefusal: when a write with immediate data is refused, the receive that
	// it would have taken ends with the status of the refusal. The specification has it
	// flushed, for it was not taken. Soft-RoCE, where one of a shared receive queue is
	// lost; that is not tried.
	TellsReceiveOfRefusal bool
	// QueryTellsRoom: ibv_query_qp and ibv_query_srq say how many work requests there is
	// room for, which is more than what the queue was said to have when it was made.
	// Soft-RoCE.
	QueryTellsRoom bool
	// StallsRetries: a send that is tried again may stop its queue for ever, if it is fenced
	// or there are more behind it. Soft-RoCE, which among other things counts a read as
	// under way once more with each try. They are not tried there.
	StallsRetries bool
	// LosesMore: behind a message of several packets that UC has lost for want of a
	// receive, the next message is lost, too. Soft-RoCE. It is not tried there.
	LosesMore bool
	// NoWindows: memory windows are not tried. Soft-RoCE gives a peer all of a window's
	// region, does not report what a send has invalidated, fails to bind some windows that
	// are free, and has ended the kernel (6.1) with a fault in such sequences.
	NoWindows bool
	// UnknownRefusal: of a chain refused for the queue pair's state, the provider does
	// not say which work request it was. Soft-RoCE.
	UnknownRefusal bool
	// ErrorOfUnreliable: a send that fails on UC or UD moves the queue pair to ERR, where
	// the specification has SQE, with receives going on. Soft-RoCE, and most hardware.
	ErrorOfUnreliable bool
}

// SoftRoCE is what is known of the kernel's rxe and its provider.
var SoftRoCE = Latitude{
	LocalOperation: true, FlushesLate: true, KeepsRefusedSends: true, RetriesForEver: true,
	NotReadyIsNoAnswer: true, TellsReceiveOfRefusal: true, QueryTellsRoom: true, StallsRetries: true, LosesMore: true, NoWindows: true,
	UnknownRefusal: true, ErrorOfUnreliable: true,
}

// localError is how work ends whose own entries are wrong.
func (l Latitude) localError() []ibv.WCStatus {
	if l.LocalOperation {
		return []ibv.WCStatus{ibv.WCLocProtErr, ibv.WCLocQPOpErr}
	}
	return []ibv.WCStatus{ibv.WCLocProtErr}
}

// bindError is how a window's binding ends that cannot be.
func (l Latitude) bindError() []ibv.WCStatus {
	return []ibv.WCStatus{ibv.WCMWBindErr}
}

// tooSmall is how a receive ends that a message does not fit, and the message.
func (l Latitude) tooSmall() (receive, send []ibv.WCStatus) {
	receive, send = []ibv.WCStatus{ibv.WCLocLenErr}, []ibv.WCStatus{ibv.WCRemInvReqErr}
	if l.LocalOperation {
		receive, send = append(receive, ibv.WCLocQPOpErr), append(send, ibv.WCRemOpErr)
	}
	return receive, send
}
