package rdma

import (
	"cmp"

	"github.com/goverbs/goverbs/ibv"
)

// QPOptions are what a queue pair is made with.
type QPOptions struct {
	// Type is [ibv.QPTRC] if it is 0.
	Type ibv.QPType
	// SendCQ and RecvCQ are where its work completes. They may be the same, and one
	// may serve many queue pairs.
	SendCQ, RecvCQ *CQ
	// SRQ is where receives come from, or nil if they are posted to the queue pair.
	SRQ *SRQ
	// Cap is how much work may be outstanding, of what size. What is 0 of it, is 64 sends,
	// 64 receives, or one scatter/gather entry each; MaxInlineData stays 0.
	Cap ibv.QPCap
	// SignalAll has every send complete, whatever its flags.
	SignalAll bool
	// SendOps has the send queue take batches too, see [QP.NewBatch], and names the
	// operations that those may have: it is of type ibv.QPCreateSendOpsFlags. FreeBSD has
	// nothing of the kind.
	SendOps sendOps

	// Port is the device's port, from 1, or 0 for the first active one.
	Port uint32
	// PKeyIndex is the partition: an entry of the port's P_Key table. 0 is the default
	// one where nobody has set up others.
	PKeyIndex uint16
	// Access is what the peer of a connected queue pair may do to memory regions that
	// allow it: remote reads, writes and atomics. 0 is that it may send, and no more.
	Access ibv.AccessFlags
	// QKey is what senders to a UD queue pair must know, or 0 for [DefaultQKey].
	QKey uint32
	// Reset leaves the queue pair in RESET, where nothing can be posted, for [QP.ToInit]
	// or [QP.Modify].
	Reset bool
}

// parents is what the queue pair needs, without nil in disguise.
func (opts *QPOptions) parents(pd *PD) []Object {
	parents := []Object{pd}
	if opts.SendCQ != nil {
		parents = append(parents, opts.SendCQ)
	}
	if opts.RecvCQ != nil {
		parents = append(parents, opts.RecvCQ)
	}
	if opts.SRQ != nil {
		parents = append(parents, opts.SRQ)
	}
	return parents
}

// foreign names what of the options is not the queue pair's, or is "".
func (opts *QPOptions) foreign(raw *ibv.QP) string {
	switch {
	case opts.SendCQ != nil && opts.SendCQ.raw != raw.SendCQ:
		return "SendCQ"
	case opts.RecvCQ != nil && opts.RecvCQ.raw != raw.RecvCQ:
		return "RecvCQ"
	case opts.SRQ != nil && opts.SRQ.raw != raw.SRQ:
		return "SRQ"
	}
	return ""
}

// attr is C's form of the options.
func (opts *QPOptions) attr() ibv.QPInitAttr {
	attr := ibv.QPInitAttr{QPType: cmp.Or(opts.Type, ibv.QPTRC), Cap: ibv.QPCap{
		MaxSendWR: cmp.Or(opts.Cap.MaxSendWR, 64), MaxSendSGE: cmp.Or(opts.Cap.MaxSendSGE, 1),
		MaxRecvWR: cmp.Or(opts.Cap.MaxRecvWR, 64), MaxRecvSGE: cmp.Or(opts.Cap.MaxRecvSGE, 1),
		MaxInlineData: opts.Cap.MaxInlineData,
	}}
	if opts.SendCQ != nil {
		attr.SendCQ = opts.SendCQ.raw
	}
	if opts.RecvCQ != nil {
		attr.RecvCQ = opts.RecvCQ.raw
	}
	if opts.SRQ != nil {
		attr.SRQ = opts.SRQ.raw
	}
	if opts.SignalAll {
		attr.SQSigAll = 1
	}
	return attr
}
