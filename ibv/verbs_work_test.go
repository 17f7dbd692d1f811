//go:build !freebsd

package ibv_test

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/recorder"
)

// cqEvent is what GetCQEvent returns.
type cqEvent struct {
	cq      *ibv.CQ
	context uintptr
}

// workVerbs is the table of what work is done with: queues and their events, queue
// pairs, addresses, flows and counters.
func workVerbs(r *recorder.Recorder, ctx *ibv.Context) []boundVerb {
	pd := recorder.Object[ibv.PD](r)
	pd.Context = ctx
	channel := recorder.Object[ibv.CompChannel](r)
	channel.Context = ctx
	cq, cqEx, other := recorder.Object[ibv.CQ](r), recorder.Object[ibv.CQEx](r), recorder.Object[ibv.CQ](r)
	cq.Context, cqEx.Context, other.Context = ctx, ctx, ctx
	srq := recorder.Object[ibv.SRQ](r)
	srq.Context, srq.PD = ctx, pd
	qp := recorder.Object[ibv.QP](r)
	qp.Context, qp.PD = ctx, pd
	xrcd := recorder.Object[ibv.XRCD](r)
	xrcd.Context = ctx
	wq, wq2 := recorder.Object[ibv.WQ](r), recorder.Object[ibv.WQ](r)
	wq.Context, wq2.Context = ctx, ctx
	table := recorder.Object[ibv.RWQIndTable](r)
	table.Context = ctx
	ah := recorder.Object[ibv.AH](r)
	ah.Context = ctx
	flow := recorder.Object[ibv.Flow](r)
	flow.Context = ctx
	flowAction := recorder.Object[ibv.FlowAction](r)
	flowAction.Context = ctx
	counters := recorder.Object[ibv.Counters](r)
	counters.Context = ctx
	cntr := recorder.Object[ibv.CompCntr](r)
	cntr.Context = ctx

	const cookie = uintptr(0x1122334455667788)
	const count = uint64(0xfedcba9876543210)
	log, countersAttr := uint32(2), ibv.CountersInitAttr{CompMask: 0x77} // log: of the four queues in wqs
	cookieNow, countNow, srqNum := cookie, count, uint32(0xfedcba98)
	async := ibv.AsyncEvent{EventType: ibv.EventQPFatal}
	async.Element.QP().Set(qp)
	cqAttr := &ibv.CQInitAttrEx{CQE: 1, CQContext: cookie, Channel: channel, CompVector: 2, WCFlags: 3, CompMask: 4, Flags: 5, ParentDomain: pd}
	moderate := ibv.ModifyCQAttr{AttrMask: 1, Moderate: ibv.ModerateCQ{CQCount: 2, CQPeriod: 3}}
	srqAttr := &ibv.SRQInitAttrEx{
		SRQContext: cookie, Attr: ibv.SRQAttr{MaxWR: 1, MaxSGE: 2, SRQLimit: 3}, CompMask: ibv.SRQInitAttrPD | ibv.SRQInitAttrType | ibv.SRQInitAttrXRCD | ibv.SRQInitAttrCQ,
		SRQType: ibv.SRQTXRC, PD: pd, XRCD: xrcd, CQ: cq, TMCap: ibv.TMCap{MaxNumTags: 4, MaxOps: 5},
	}
	basicSRQ := *srqAttr
	basicSRQ.CompMask, basicSRQ.SRQType = ibv.SRQInitAttrPD|ibv.SRQInitAttrType, ibv.SRQTBasic
	qpAttr := &ibv.QPInitAttrEx{
		QPContext: cookie, SendCQ: cq, RecvCQ: other, SRQ: srq, Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 2, MaxSendSGE: 3, MaxRecvSGE: 4, MaxInlineData: 5},
		QPType: ibv.QPTRC, SQSigAll: 1, CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, PD: pd, XRCD: xrcd, CreateFlags: 6, MaxTSOHeader: 7,
		RWQIndTbl: table, RxHashConf: ibv.RxHashConf{RxHashFunction: 8, RxHashKeyLen: 9, RxHashFieldsMask: 10}, SourceQPN: 11, SendOpsFlags: 12,
	}
	plainQP := *qpAttr
	plainQP.CompMask = ibv.QPInitAttrPD
	openAttr := &ibv.QPOpenAttr{CompMask: 15, QPNum: 1, XRCD: xrcd, QPContext: cookie, QPType: ibv.QPTXRCRecv}
	rate := ibv.QPRateLimitAttr{RateLimit: 1, MaxBurstSz: 2, TypicalPktSz: 3, CompMask: 4}
	domain := ibv.XRCDInitAttr{CompMask: 3, FD: -1, Oflags: 0x40}
	wqAttr := &ibv.WQInitAttr{WQContext: cookie, WQType: ibv.WQTRQ, MaxWR: 1, MaxSGE: 2, PD: pd, CQ: cq, CompMask: 3, CreateFlags: 4}
	wqState := &ibv.WQAttr{AttrMask: 1, WQState: 2, CurrWQState: 3, Flags: 4, FlagsMask: 5}
	wqs := []*ibv.WQ{wq, wq2, wq, wq}
	wc := &ibv.WC{WRID: 1, SrcQP: 2, WCFlags: ibv.WCGRH, SLID: 3}
	grh := &ibv.GRH{Paylen: 4, HopLimit: 5}
	answer := ibv.AHAttr{DLID: 6, SL: 7, PortNum: 8}
	group := ibv.GID{}
	copy(group.Raw()[:], "multicast group!")
	rule := &ibv.FlowAttr{CompMask: 1, Type: 2, Size: 3, Priority: 4, Port: 5, Flags: 6}
	esp := &ibv.FlowActionESPAttr{
		ESPAttr: &ibv.FlowActionESP{SPI: 1, Seq: 2, HardLimitPkts: 3}, KeymatProto: 77, KeymatLen: 78, KeymatPtr: 79, ReplayProto: 80, ReplayLen: 81, ReplayPtr: 82,
		ESPEncap: &ibv.FlowActionESPEncap{Len: 4}, CompMask: 1, ESN: 5,
	}
	key := &ibv.FlowActionESPKeymatAESGCM{IV: 1, Salt: 2, KeyLen: 3, AESKey: [8]uint32{4, 5, 6, 7, 8, 9, 10, 11}}
	replay := &ibv.FlowActionESPReplayBmp{Size: 12}
	point := ibv.CounterAttachAttr{CounterDesc: ibv.CounterBytes, Index: 2, CompMask: 3}
	values := make([]uint64, 3)
	caps := ibv.CompCntrCaps{MaxValue: count, MaxCounters: 1, SupportedQPAttachOps: 2}
	cntrAttr := ibv.CompCntrInitAttr{CompMask: 1, Type: 2, Flags: 3}
	attach := ibv.QPAttachCompCntrAttr{CompMask: 1, OpMask: 2}

	// What C sees of the key and the protection, behind the numbers of the attributes.
	const (
		keyAt    = int(unsafe.Offsetof(ibv.FlowActionESPAttr{}.KeymatPtr))
		replayAt = int(unsafe.Offsetof(ibv.FlowActionESPAttr{}.ReplayPtr))
		keySize  = int(unsafe.Sizeof(*key))
	)
	behind := []recorder.Memory{
		{Arg: 1, Path: []int{keyAt}, Length: keySize}, {Arg: 1, Path: []int{replayAt}, Length: 4},
		{Arg: 1, Path: []int{0}, Length: int(unsafe.Sizeof(*esp.ESPAttr))}, {Arg: 1, Length: keyAt},
	}
	espNow := *esp
	espNow.KeymatProto, espNow.KeymatLen = ibv.FlowActionESPKeymatGCM, uint16(keySize)
	espBehind := [][]byte{recorder.Bytes(key), recorder.Bytes(replay), recorder.Bytes(esp.ESPAttr), recorder.Bytes(&espNow)[:keyAt]}

	copied := func(arg int, length uintptr) []recorder.Memory {
		return []recorder.Memory{{Arg: arg, Length: int(length)}}
	}
	saw := func(bytes ...[]byte) [][]byte { return bytes }

	return []boundVerb{
		{function: "ibv_create_comp_channel", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCompChannel()) },
			args: []any{ctx}, does: recorder.Response{Result: address(channel)}, want: channel},
		{function: "ibv_destroy_comp_channel", fails: givesStatus, call: func() (any, error) { return errorOnly(channel.Close()) }, args: []any{channel}},
		{function: "ibv_get_cq_event", fails: givesStatus,
			call: func() (any, error) {
				cq, context, err := channel.GetCQEvent()
				return cqEvent{cq, context}, err
			},
			args: []any{channel, recorder.Anything, recorder.Anything}, want: cqEvent{cq, cookie},
			does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&cq)}, {Arg: 2, Bytes: recorder.Bytes(&cookieNow)}}}},
		{function: "ibv_ack_cq_events", fails: cannotFail, call: func() (any, error) { return errorOnly(cq.AckEvents(0xfedcba98)) },
			args: []any{cq, uint32(0xfedcba98)}},
		{function: "ContextOps.ReqNotifyCQ", fails: givesStatus, call: func() (any, error) { return errorOnly(cq.ReqNotify(false)) }, args: []any{cq, int32(0)}},
		{function: "ContextOps.ReqNotifyCQ", fails: givesStatus, call: func() (any, error) { return errorOnly(cq.ReqNotify(true)) }, args: []any{cq, int32(1)}},
		{function: "ibv_get_async_event", fails: givesStatus, call: func() (any, error) { return of(ctx.GetAsyncEvent()) },
			args: []any{ctx, recorder.Anything}, want: async, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&async)}}}},
		{function: "ibv_ack_async_event", fails: cannotFail, nowhere: true, call: func() (any, error) { return errorOnly(async.Ack()) },
			args: []any{recorder.Anything}, saw: saw(recorder.Bytes(&async)), does: recorder.Response{Copy: copied(0, unsafe.Sizeof(async))}},

		{function: "ibv_create_cq", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCQ(0x12345678)) },
			args: []any{ctx, int32(0x12345678), uintptr(0), nil, int32(0)}, does: recorder.Response{Result: address(cq)}, want: cq},
		{function: "ibv_create_cq", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCQWithChannel(0x12345678, cookie, channel, 0x23456789)) },
			args: []any{ctx, int32(0x12345678), cookie, channel, int32(0x23456789)}, does: recorder.Response{Result: address(cq)}, want: cq},
		{function: "ibv_resize_cq", fails: givesStatus, call: func() (any, error) { return errorOnly(cq.Resize(0x12345678)) }, args: []any{cq, int32(0x12345678)}},
		{function: "ibv_destroy_cq", fails: givesStatus, call: func() (any, error) { return errorOnly(cq.Close()) }, args: []any{cq}},
		{function: "ibv_destroy_cq", fails: givesStatus, call: func() (any, error) { return errorOnly(cqEx.Close()) }, args: []any{cqEx}},
		{function: "VerbsContext.ModifyCQ", fails: givesStatus, call: func() (any, error) { return errorOnly(cq.Modify(moderate)) },
			args: []any{cq, recorder.Anything}, saw: saw(recorder.Bytes(&moderate)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(moderate))}},
		{function: "VerbsContext.CreateCQEx", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCQEx(cqAttr)) },
			args: []any{ctx, recorder.Anything}, want: cqEx, saw: saw(recorder.Bytes(cqAttr)),
			does: recorder.Response{Result: address(cqEx), Copy: copied(1, unsafe.Sizeof(*cqAttr))}},

		{function: "VerbsContext.CreateSRQEx", fails: givesNull, call: func() (any, error) { attr := *srqAttr; return of(ctx.CreateSRQEx(&attr)) },
			args: []any{ctx, recorder.Anything}, want: srq, saw: saw(recorder.Bytes(srqAttr)),
			does: recorder.Response{Result: address(srq), Copy: copied(1, unsafe.Sizeof(*srqAttr))}},
		{function: "ibv_create_srq", fails: givesNull, call: func() (any, error) { attr := basicSRQ; return of(ctx.CreateSRQEx(&attr)) },
			args: []any{pd, recorder.Anything}, want: srq, saw: saw(recorder.Bytes(&basicSRQ)),
			does: recorder.Response{Result: address(srq), Copy: copied(1, unsafe.Sizeof(basicSRQ))}},
		{function: "VerbsContext.GetSRQNum", fails: givesStatus, call: func() (any, error) { return of(srq.Num()) },
			args: []any{srq, recorder.Anything}, want: srqNum, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&srqNum)}}}},
		{function: "VerbsContext.PostSRQOps", fails: givesStatus,
			call: func() (any, error) {
				_, err := srq.PostOps(&ibv.OpsWR{WRID: countNow})
				return errorOnly(err)
			},
			args: []any{srq, recorder.Anything, recorder.Anything}, saw: saw(recorder.Bytes(&countNow), make([]byte, 8)),
			does: recorder.Response{Copy: []recorder.Memory{{Arg: 1, Length: 8}, {Arg: 2, Length: 8}}}},

		{function: "VerbsContext.CreateQPEx", fails: givesNull, call: func() (any, error) { attr := *qpAttr; return of(ctx.CreateQPEx(&attr)) },
			args: []any{ctx, recorder.Anything}, want: qp, saw: saw(recorder.Bytes(qpAttr)),
			does: recorder.Response{Result: address(qp), Copy: copied(1, unsafe.Sizeof(*qpAttr))}},
		{function: "ibv_create_qp", fails: givesNull, call: func() (any, error) { attr := plainQP; return of(ctx.CreateQPEx(&attr)) },
			args: []any{pd, recorder.Anything}, want: qp, saw: saw(recorder.Bytes(&plainQP)),
			does: recorder.Response{Result: address(qp), Copy: copied(1, unsafe.Sizeof(plainQP))}},
		{function: "VerbsContext.OpenQP", fails: givesNull, call: func() (any, error) { return of(ctx.OpenQP(openAttr)) },
			args: []any{ctx, recorder.Anything}, want: qp, saw: saw(recorder.Bytes(openAttr)),
			does: recorder.Response{Result: address(qp), Copy: copied(1, unsafe.Sizeof(*openAttr))}},
		{function: "VerbsContext.ModifyQPRateLimit", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.ModifyRateLimit(rate)) },
			args: []any{qp, recorder.Anything}, saw: saw(recorder.Bytes(&rate)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(rate))}},
		{function: "VerbsContext.OpenXRCD", fails: givesNull, call: func() (any, error) { return of(ctx.OpenXRCD(domain)) },
			args: []any{ctx, recorder.Anything}, want: xrcd, saw: saw(recorder.Bytes(&domain)),
			does: recorder.Response{Result: address(xrcd), Copy: copied(1, unsafe.Sizeof(domain))}},
		{function: "VerbsContext.CloseXRCD", fails: givesStatus, call: func() (any, error) { return errorOnly(xrcd.Close()) }, args: []any{xrcd}},

		{function: "VerbsContext.CreateWQ", fails: givesNull, call: func() (any, error) { return of(ctx.CreateWQ(wqAttr)) },
			args: []any{ctx, recorder.Anything}, want: wq, saw: saw(recorder.Bytes(wqAttr)),
			does:  recorder.Response{Result: address(wq), Copy: copied(1, unsafe.Sizeof(*wqAttr))},
			check: func(t *testing.T) { require.Equal(t, cookie, wq.WQContext) }},
		{function: "VerbsContext.ModifyWQ", fails: givesStatus, call: func() (any, error) { return errorOnly(wq.Modify(wqState)) },
			args: []any{wq, recorder.Anything}, saw: saw(recorder.Bytes(wqState)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(*wqState))}},
		{function: "VerbsContext.DestroyWQ", fails: givesStatus, call: func() (any, error) { return errorOnly(wq.Close()) }, args: []any{wq}},
		{function: "VerbsContext.CreateRWQIndTable", fails: givesNull, call: func() (any, error) { return of(ctx.CreateRWQIndTable(wqs)) },
			args: []any{ctx, recorder.Anything}, want: table,
			saw: saw(recorder.Bytes(&log), recorder.Bytes((*[4]*ibv.WQ)(wqs))),
			does: recorder.Response{Result: address(table), Copy: []recorder.Memory{
				{Arg: 1, Length: 4}, {Arg: 1, Path: []int{int(unsafe.Offsetof(ibv.RWQIndTableInitAttr{}.IndTbl))}, Length: 32},
			}}},
		{function: "VerbsContext.DestroyRWQIndTable", fails: givesStatus, call: func() (any, error) { return errorOnly(table.Close()) }, args: []any{table}},

		{function: "ibv_init_ah_from_wc", fails: givesStatus, call: func() (any, error) { return of(ctx.InitAHFromWC(7, wc, grh)) },
			args: []any{ctx, uint8(7), wc, grh, recorder.Anything}, want: answer,
			does: recorder.Response{Fill: []recorder.Memory{{Arg: 4, Bytes: recorder.Bytes(&answer)}}}},
		{function: "ibv_create_ah_from_wc", fails: givesNull, call: func() (any, error) { return of(pd.CreateAHFromWC(wc, grh, 7)) },
			args: []any{pd, wc, grh, uint8(7)}, want: ah, does: recorder.Response{Result: address(ah)}},
		{function: "ibv_destroy_ah", fails: givesStatus, call: func() (any, error) { return errorOnly(ah.Close()) }, args: []any{ah}},
		{function: "ibv_attach_mcast", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.AttachMcast(group, 0xfedc)) },
			args: []any{qp, recorder.Anything, uint16(0xfedc)}, saw: saw([]byte("multicast group!")), does: recorder.Response{Copy: copied(1, 16)}},
		{function: "ibv_detach_mcast", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.DetachMcast(group, 0xfedc)) },
			args: []any{qp, recorder.Anything, uint16(0xfedc)}, saw: saw([]byte("multicast group!")), does: recorder.Response{Copy: copied(1, 16)}},

		{function: "VerbsContext.IbvCreateFlow", fails: givesNull, call: func() (any, error) { return of(qp.CreateFlow(rule)) },
			args: []any{qp, rule}, want: flow, does: recorder.Response{Result: address(flow)}},
		{function: "VerbsContext.IbvDestroyFlow", fails: givesStatus, call: func() (any, error) { return errorOnly(flow.Close()) }, args: []any{flow}},
		{function: "VerbsContext.CreateFlowActionESP", fails: givesNull, call: func() (any, error) { return of(ctx.CreateFlowActionESP(esp, key, replay)) },
			args: []any{ctx, recorder.Anything}, want: flowAction, saw: espBehind, does: recorder.Response{Result: address(flowAction), Copy: behind}},
		{function: "VerbsContext.ModifyFlowActionESP", fails: givesStatus, call: func() (any, error) { return errorOnly(flowAction.ModifyESP(esp, nil, nil)) },
			args: []any{flowAction, recorder.Anything}, saw: saw(recorder.Bytes(esp)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(*esp))}},
		{function: "VerbsContext.DestroyFlowAction", fails: givesStatus, call: func() (any, error) { return errorOnly(flowAction.Close()) }, args: []any{flowAction}},

		{function: "VerbsContext.CreateCounters", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCounters(countersAttr)) },
			args: []any{ctx, recorder.Anything}, want: counters, saw: saw(recorder.Bytes(&countersAttr)), does: recorder.Response{Result: address(counters), Copy: copied(1, 4)}},
		{function: "VerbsContext.AttachCountersPointFlow", fails: givesStatus, call: func() (any, error) { return errorOnly(counters.AttachPointFlow(point, flow)) },
			args: []any{counters, recorder.Anything, flow}, saw: saw(recorder.Bytes(&point)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(point))}},
		{function: "VerbsContext.AttachCountersPointFlow", fails: givesStatus, call: func() (any, error) { return errorOnly(counters.AttachPointFlow(point, nil)) },
			args: []any{counters, recorder.Anything, nil}, saw: saw(recorder.Bytes(&point)), does: recorder.Response{Copy: copied(1, unsafe.Sizeof(point))}},
		{function: "VerbsContext.ReadCounters", fails: givesStatus, call: func() (any, error) { return errorOnly(counters.Read(values, 0x12345678)) },
			args: []any{counters, &values[0], uint32(3), uint32(0x12345678)}, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&countNow)}}},
			check: func(t *testing.T) { require.Equal(t, []uint64{count, 0, 0}, values) }},
		{function: "VerbsContext.DestroyCounters", fails: givesStatus, call: func() (any, error) { return errorOnly(counters.Close()) }, args: []any{counters}},

		{function: "_ibv_query_comp_cntr_caps", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryCompCntrCaps()) },
			args: []any{ctx, recorder.Anything, uint64(unsafe.Sizeof(caps))}, want: caps, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&caps)}}}},
		{function: "ibv_create_comp_cntr", fails: givesNull, call: func() (any, error) { return of(ctx.CreateCompCntr(cntrAttr)) },
			args: []any{ctx, recorder.Anything}, want: cntr, saw: saw(recorder.Bytes(&cntrAttr)),
			does: recorder.Response{Result: address(cntr), Copy: copied(1, unsafe.Sizeof(cntrAttr))}},
		{function: "ibv_destroy_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(cntr.Close()) }, args: []any{cntr}},
		{function: "ibv_set_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(cntr.Set(count)) }, args: []any{cntr, count}},
		{function: "ibv_set_err_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(cntr.SetErr(count + 1)) }, args: []any{cntr, count + 1}},
		{function: "ibv_inc_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(cntr.Inc(count + 2)) }, args: []any{cntr, count + 2}},
		{function: "ibv_inc_err_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(cntr.IncErr(count + 3)) }, args: []any{cntr, count + 3}},
		{function: "ibv_read_comp_cntr", fails: givesStatus, call: func() (any, error) { return of(cntr.Read()) },
			args: []any{cntr, recorder.Anything}, want: count, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&countNow)}}}},
		{function: "ibv_read_err_comp_cntr", fails: givesStatus, call: func() (any, error) { return of(cntr.ReadErr()) },
			args: []any{cntr, recorder.Anything}, want: count, does: recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&countNow)}}}},
		{function: "ibv_qp_attach_comp_cntr", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.AttachCompCntr(cntr, attach)) },
			args: []any{qp, cntr, recorder.Anything}, saw: saw(recorder.Bytes(&attach)), does: recorder.Response{Copy: copied(2, unsafe.Sizeof(attach))}},
	}
}

func TestVerbsOfWork(t *testing.T) {
	if r := inRecorder(t); r != nil {
		requireVerbs(t, r, workVerbs)
	}
}

func TestMissingVerbsOfWork(t *testing.T) {
	if r := inEmptyLibrary(t); r != nil {
		requireMissing(t, r, workVerbs)
	}
}
