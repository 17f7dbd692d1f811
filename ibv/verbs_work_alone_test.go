//go:build !freebsd

package ibv_test

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/internal/recorder"
)

// C's inline functions go to the old verbs where these do, whatever the context has,
// and nowhere else.
func TestExtendedVerbsThatAreOldOnes(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	for name, ctx := range map[string]*ibv.Context{"whole": recordedContext(r, allOps), "without operations": recordedContext(r, noOps)} {
		t.Run(name, func(t *testing.T) {
			pd := recorder.Object[ibv.PD](r)
			pd.Context = ctx
			xrcd := recorder.Object[ibv.XRCD](r)
			xrcd.Context = ctx
			cq, srq, qp := recorder.Object[ibv.CQ](r), recorder.Object[ibv.SRQ](r), recorder.Object[ibv.QP](r)
			cq.Context, srq.Context, qp.Context = ctx, ctx, ctx
			const isPD, isType, isCQ = ibv.SRQInitAttrPD, ibv.SRQInitAttrType, ibv.SRQInitAttrCQ
			for _, tt := range []struct {
				mask ibv.SRQInitAttrMask
				typ  ibv.SRQType
				old  bool
			}{
				{isPD, ibv.SRQTBasic, true},
				{isPD, ibv.SRQTXRC, true}, // the type does not count
				{isPD | isType, ibv.SRQTBasic, true},
				{isPD | isType, ibv.SRQTXRC, false},
				{isPD | isCQ, ibv.SRQTBasic, false},
				{isPD | isCQ | isType, ibv.SRQTBasic, false},
				{isType, ibv.SRQTBasic, false},
				{0, ibv.SRQTBasic, false},
				{isPD | 1<<31, ibv.SRQTBasic, false},
			} {
				after := ibv.SRQInitAttrEx{SRQContext: 1, Attr: ibv.SRQAttr{MaxWR: 11, MaxSGE: 12, SRQLimit: 13}}
				response := recorder.Response{Result: address(srq), Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&after)[:24]}}}
				function, first := "VerbsContext.CreateSRQEx", any(ctx)
				if tt.old {
					function, first = "ibv_create_srq", pd
				}
				attr := ibv.SRQInitAttrEx{SRQContext: 7, Attr: ibv.SRQAttr{MaxWR: 1}, CompMask: tt.mask, SRQType: tt.typ, PD: pd, CQ: cq}
				if !tt.old && name != "whole" {
					_, err := ctx.CreateSRQEx(&attr)
					require.ErrorIs(t, err, syscall.EOPNOTSUPP, "%+v", tt)
					require.Empty(t, r.Calls())
					require.EqualValues(t, 1, attr.Attr.MaxWR)
					continue
				}
				r.Play(function, response)
				got, err := ctx.CreateSRQEx(&attr)
				require.NoError(t, err, "%+v", tt)
				require.Same(t, srq, got)
				r.Only().Require(t, function, first)
				require.Equal(t, after.Attr, attr.Attr, "what it really has")
				require.EqualValues(t, 7, attr.SRQContext)
			}
			for mask, old := range map[ibv.QPInitAttrMask]bool{
				ibv.QPInitAttrPD: true, ibv.QPInitAttrPD | ibv.QPInitAttrCreateFlags: false, 0: false, ibv.QPInitAttrXRCD: false,
				ibv.QPInitAttrPD | 1<<31: false, ibv.QPInitAttrPD | ibv.QPInitAttrXRCD: false,
			} {
				after := ibv.QPInitAttrEx{Cap: ibv.QPCap{MaxSendWR: 11, MaxRecvWR: 12, MaxSendSGE: 13, MaxRecvSGE: 14, MaxInlineData: 15}}
				function, first := "VerbsContext.CreateQPEx", any(ctx)
				if old {
					function, first = "ibv_create_qp", pd
				}
				attr := ibv.QPInitAttrEx{SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, Cap: ibv.QPCap{MaxSendWR: 1}, CompMask: mask, PD: pd, XRCD: xrcd}
				if !old && name != "whole" {
					_, err := ctx.CreateQPEx(&attr)
					require.ErrorIs(t, err, syscall.EOPNOTSUPP, "%v", mask)
					require.Empty(t, r.Calls())
					continue
				}
				r.Play(function, recorder.Response{Result: address(qp), Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&after)[:52]}}})
				got, err := ctx.CreateQPEx(&attr)
				require.NoError(t, err)
				require.Same(t, qp, got)
				r.Only().Require(t, function, first)
				require.Equal(t, after.Cap, attr.Cap)
			}
		})
	}
}

// A context is asked as far as it says that it reaches, to the byte.
func TestOperationAtTheEdgeOfAContext(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	const reaches = allOps - unsafe.Offsetof(ibv.VerbsContext{}.CreateCQEx)
	cq := recorder.Object[ibv.CQEx](r)
	ctx := recordedContext(r, reaches)
	r.Play("VerbsContext.CreateCQEx", recorder.Response{Result: address(cq)})
	attr := ibv.CQInitAttrEx{CQE: 1}
	got, err := ctx.CreateCQEx(&attr)
	require.NoError(t, err)
	require.Same(t, cq, got)
	require.Equal(t, unsafe.Pointer(got), unsafe.Pointer(got.CQ()))
	r.Only()
	sz := uintptr(unsafe.Pointer(ctx)) - (unsafe.Offsetof(ibv.VerbsContext{}.Context) - unsafe.Offsetof(ibv.VerbsContext{}.Sz))
	**(**uintptr)(unsafe.Pointer(&sz)) = reaches - 1 // Safe: the context has its size in front of it.
	_, err = ctx.CreateCQEx(&attr)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.Empty(t, r.Calls())
}

// Attributes are updated to what C makes of them, and only if it takes them.
func TestAttributesAreUpdated(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd, cq, wq := recorder.Object[ibv.PD](r), recorder.Object[ibv.CQ](r), recorder.Object[ibv.WQ](r)
	pd.Context, cq.Context, wq.Context = ctx, ctx, ctx
	wqAttr, wqAfter := ibv.WQInitAttr{MaxWR: 1, PD: pd, CQ: cq}, ibv.WQInitAttr{MaxWR: 2, MaxSGE: 3, PD: pd, CQ: cq}
	state, stateAfter := ibv.WQAttr{AttrMask: 1}, ibv.WQAttr{AttrMask: 2, CurrWQState: 3}
	cqAttr, cqAfter := ibv.CQInitAttrEx{CQE: 1}, ibv.CQInitAttrEx{CQE: 2}
	for _, result := range []uint64{0, 1} {
		r.Play("VerbsContext.CreateWQ", recorder.Response{Result: result * address(wq), Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&wqAfter)}}})
		r.Play("VerbsContext.ModifyWQ", recorder.Response{Result: 1 - result, Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&stateAfter)}}})
		r.Play("VerbsContext.CreateCQEx", recorder.Response{Result: result * address(cq), Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&cqAfter)}}})
		_, err := ctx.CreateWQ(&wqAttr)
		require.Equal(t, result == 1, err == nil)
		err = wq.Modify(&state)
		require.Equal(t, result == 1, err == nil)
		_, err = ctx.CreateCQEx(&cqAttr)
		require.Equal(t, result == 1, err == nil)
		if result == 0 {
			require.Equal(t, ibv.WQInitAttr{MaxWR: 1, PD: pd, CQ: cq}, wqAttr)
			require.Equal(t, ibv.WQAttr{AttrMask: 1}, state)
			require.Equal(t, ibv.CQInitAttrEx{CQE: 1}, cqAttr)
		}
		r.Forget()
	}
	require.Equal(t, wqAfter, wqAttr)
	require.Equal(t, stateAfter, state)
	require.Equal(t, cqAfter, cqAttr)
}

// A new work queue has what C's inline function gives it: a mutex and a condition of
// the C library, and the caller's number.
func TestNewWorkQueue(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd, cq, wq := recorder.Object[ibv.PD](r), recorder.Object[ibv.CQ](r), recorder.Object[ibv.WQ](r)
	pd.Context, cq.Context, wq.Context = ctx, ctx, ctx
	wq.EventsCompleted, wq.WQContext = 77, 78
	// Junk, with which a mutex is locked for ever.
	junk := func(p unsafe.Pointer, size uintptr) []byte {
		b := unsafe.Slice((*byte)(p), size) // Safe: the member of an object of C's.
		for i := range b {
			b[i] = 0xff
		}
		return b
	}
	mutex, cond := junk(unsafe.Pointer(&wq.Mutex), unsafe.Sizeof(wq.Mutex)), junk(unsafe.Pointer(&wq.Cond), unsafe.Sizeof(wq.Cond))
	r.Play("VerbsContext.CreateWQ", recorder.Response{Result: address(wq)})
	got, err := ctx.CreateWQ(&ibv.WQInitAttr{WQContext: 0x1122334455667788, PD: pd, CQ: cq})
	require.NoError(t, err)
	require.Same(t, wq, got)
	require.Zero(t, wq.EventsCompleted)
	require.EqualValues(t, uint64(0x1122334455667788), wq.WQContext)
	require.NotContains(t, mutex, byte(0xff))
	require.NotContains(t, cond, byte(0xff))
	library, err := dl.Load()
	require.NoError(t, err)
	pthread := func(name string, p *byte) syscall.Errno {
		fn, err := library.Symbol(name)
		require.NoError(t, err)
		result, _ := dl.Call(fn, uintptr(unsafe.Pointer(p)))
		return syscall.Errno(result)
	}
	require.Zero(t, pthread("pthread_mutex_trylock", &mutex[0]))
	require.Equal(t, syscall.EBUSY, pthread("pthread_mutex_trylock", &mutex[0]))
	require.Zero(t, pthread("pthread_cond_broadcast", &cond[0]))
	require.Zero(t, pthread("pthread_mutex_unlock", &mutex[0]))
}

// A refusal names the operation that was refused if C does, and one of the list.
func TestPostSRQOps(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	srq := recorder.Object[ibv.SRQ](r)
	srq.Context = recordedContext(r, allOps)
	ops := []ibv.OpsWR{{WRID: 1}, {WRID: 2}, {WRID: 3}}
	ops[0].Next, ops[1].Next = &ops[1], &ops[2]
	foreign := &ibv.OpsWR{}
	for bad, want := range map[*ibv.OpsWR]*ibv.OpsWR{&ops[0]: &ops[0], &ops[2]: &ops[2], foreign: nil, nil: nil} {
		r.Play("VerbsContext.PostSRQOps", recorder.Response{Result: uint64(syscall.ENOMEM), Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(&bad)}}})
		got, err := srq.PostOps(&ops[0])
		require.ErrorIs(t, err, syscall.ENOMEM)
		require.ErrorContains(t, err, "post operations to shared receive queue")
		require.Equal(t, want, got)
		r.Only().Require(t, "VerbsContext.PostSRQOps", srq, &ops[0])
	}
	handle := ops[0]
	handle.TM.Handle = 0x77
	r.Play("VerbsContext.PostSRQOps", recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&handle)}}})
	bad, err := srq.PostOps(&ops[0])
	require.NoError(t, err)
	require.Nil(t, bad)
	require.EqualValues(t, 0x77, ops[0].TM.Handle, "the provider's answer")
	r.Only()

	bad, err = srq.PostOps(nil)
	require.NoError(t, err)
	require.Nil(t, bad)
	srq.Context = recordedContext(r, noOps)
	bad, err = srq.PostOps(&ops[0])
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.Same(t, &ops[0], bad, "as in C, none was taken")
	require.Empty(t, r.Calls())
}

// Receives go to a work queue as to others.
func TestPostToWorkQueue(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	wq := recorder.Object[ibv.WQ](r)
	wq.Context = recordedContext(r, allOps)
	wrs := []ibv.RecvWR{{WRID: 1}, {WRID: 2}}
	wrs[0].Next = &wrs[1]
	bad, err := wq.Post(&wrs[0])
	require.NoError(t, err)
	require.Nil(t, bad)
	r.Only().Require(t, "WQ.PostRecv", wq, &wrs[0])

	second, junk := &wrs[1], uintptr(0x1234567)
	r.Play("WQ.PostRecv", recorder.Response{Result: uint64(syscall.ENOMEM), Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(&second)}}},
		recorder.Response{Result: recorder.Int(-1), Errno: syscall.EINVAL, Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(&junk)}}})
	bad, err = wq.Post(&wrs[0])
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.ErrorContains(t, err, "ibv: post receive to work queue: ")
	require.NotErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Same(t, second, bad)
	bad, err = wq.Post(&wrs[0])
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, err, ibv.ErrAcceptedUnknown)
	require.Nil(t, bad)
	r.Forget()
	bad, err = wq.Post(nil)
	require.NoError(t, err)
	require.Nil(t, bad)
	wq.PostRecv = 0 // as mana leaves it
	bad, err = wq.Post(&wrs[0])
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.Same(t, &wrs[0], bad)
	bad, err = wq.Post(nil)
	require.NoError(t, err)
	require.Nil(t, bad)
	require.Empty(t, r.Calls())
}

// Without a header, C is given one of zeros: it looks at it in any case.
func TestAnswerWithoutHeader(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	pd := recorder.Object[ibv.PD](r)
	pd.Context = recordedContext(r, allOps)
	zeros := make([]byte, ibv.GRHLength)
	r.Play("ibv_init_ah_from_wc", recorder.Response{Copy: []recorder.Memory{{Arg: 3, Length: ibv.GRHLength}}})
	_, err := pd.Context.InitAHFromWC(1, &ibv.WC{}, nil)
	require.NoError(t, err)
	require.Equal(t, [][]byte{zeros}, r.Only().Copied)
	r.Play("ibv_create_ah_from_wc", recorder.Response{Result: 8, Copy: []recorder.Memory{{Arg: 2, Length: ibv.GRHLength}}})
	_, err = pd.CreateAHFromWC(&ibv.WC{}, nil, 1)
	require.NoError(t, err)
	require.Equal(t, [][]byte{zeros}, r.Only().Copied)
}

// What makes no sense is refused before C is asked.
func TestWorkThatMakesNoSense(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx, elsewhere := recordedContext(r, allOps), recordedContext(r, allOps)
	pd, cq, qp, wq := recorder.Object[ibv.PD](r), recorder.Object[ibv.CQ](r), recorder.Object[ibv.QP](r), recorder.Object[ibv.WQ](r)
	pd.Context, cq.Context, qp.Context, wq.Context = ctx, ctx, ctx, ctx
	pd2, cq2, srq2, xrcd2 := recorder.Object[ibv.PD](r), recorder.Object[ibv.CQ](r), recorder.Object[ibv.SRQ](r), recorder.Object[ibv.XRCD](r)
	table2, wq2, cntr2, channel2 := recorder.Object[ibv.RWQIndTable](r), recorder.Object[ibv.WQ](r), recorder.Object[ibv.CompCntr](r), recorder.Object[ibv.CompChannel](r)
	pd2.Context, cq2.Context, srq2.Context, xrcd2.Context = elsewhere, elsewhere, elsewhere, elsewhere
	table2.Context, wq2.Context, cntr2.Context, channel2.Context = elsewhere, elsewhere, elsewhere, elsewhere
	errorOf := func(_ any, err error) error { return err }
	createQP := func(attr ibv.QPInitAttrEx) error { return errorOf(ctx.CreateQPEx(&attr)) }
	createSRQ := func(attr ibv.SRQInitAttrEx) error { return errorOf(ctx.CreateSRQEx(&attr)) }
	for i, tt := range []struct {
		err  error
		text string
	}{
		{errorOf(ctx.CreateCQ(0)), "cannot have 0 entries"},
		{errorOf(ctx.CreateCQ(1 << 31)), "cannot have 2147483648 entries"},
		{errorOf(ctx.CreateCQWithChannel(1, 0, nil, -1)), "no completion vector -1"},
		{errorOf(ctx.CreateCQWithChannel(1, 0, channel2, 0)), "different context"},
		{cq.Resize(0), "cannot have 0 entries"},
		{errorOf(ctx.CreateCQEx(nil)), "attributes are missing"},
		{errorOf(ctx.CreateCQEx(&ibv.CQInitAttrEx{Channel: channel2})), "the completion channel belongs to a different context"},
		{errorOf(ctx.CreateCQEx(&ibv.CQInitAttrEx{CompMask: ibv.CQInitAttrMaskPD})), "ParentDomain, which is nil"},
		{errorOf(ctx.CreateCQEx(&ibv.CQInitAttrEx{CompMask: ibv.CQInitAttrMaskPD, ParentDomain: pd2})), "ParentDomain, which is nil or belongs to a different context"},
		{errorOf(ctx.CreateCQEx(&ibv.CQInitAttrEx{})), "cannot have 0 entries"},
		{errorOf(ctx.CreateSRQEx(nil)), "attributes are missing"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrPD}), "PD, which is nil"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrPD, PD: pd2}), "PD, which is nil or belongs to a different context"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrXRCD}), "XRCD, which is nil"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrXRCD, XRCD: xrcd2}), "XRCD, which is nil or belongs to a different context"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrCQ}), "CQ, which is nil"},
		{createSRQ(ibv.SRQInitAttrEx{CompMask: ibv.SRQInitAttrCQ, CQ: cq2}), "CQ, which is nil or belongs to a different context"},
		{errorOf(ctx.CreateQPEx(nil)), "attributes are missing"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD}), "PD, which is nil"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD, PD: pd2}), "PD, which is nil or belongs to a different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrXRCD}), "XRCD, which is nil"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrXRCD, XRCD: xrcd2}), "XRCD, which is nil or belongs to a different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrIndTable}), "RWQIndTbl, which is nil"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrIndTable, RWQIndTbl: table2}), "RWQIndTbl, which is nil or belongs to a different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD, PD: pd}), "QPType is missing"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrCreateFlags, PD: pd, SendCQ: cq2, RecvCQ: cq}), "different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrCreateFlags, PD: pd, SendCQ: cq, RecvCQ: cq2}), "different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrCreateFlags, PD: pd, SendCQ: cq, RecvCQ: cq, SRQ: srq2}), "different context"},
		{createQP(ibv.QPInitAttrEx{CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrCreateFlags, PD: pd, SendCQ: cq}), "SendCQ and RecvCQ are both needed"},
		{errorOf(ctx.OpenQP(nil)), "attributes are missing"},
		{errorOf(ctx.OpenQP(&ibv.QPOpenAttr{CompMask: ibv.QPOpenAttrXRCD})), "XRCD, which is nil"},
		{errorOf(ctx.OpenQP(&ibv.QPOpenAttr{CompMask: ibv.QPOpenAttrXRCD, XRCD: xrcd2})), "XRCD, which is nil or belongs to a different context"},
		{errorOf(ctx.CreateWQ(nil)), "attributes are missing"},
		{errorOf(ctx.CreateWQ(&ibv.WQInitAttr{PD: pd})), "PD and CQ are both needed"},
		{errorOf(ctx.CreateWQ(&ibv.WQInitAttr{CQ: cq})), "PD and CQ are both needed"},
		{errorOf(ctx.CreateWQ(&ibv.WQInitAttr{PD: pd2, CQ: cq})), "different context"},
		{errorOf(ctx.CreateWQ(&ibv.WQInitAttr{PD: pd, CQ: cq2})), "different context"},
		{wq.Modify(nil), "attributes are missing"},
		{errorOf(ctx.CreateRWQIndTable(nil)), "it has 0 entries"},
		{errorOf(ctx.CreateRWQIndTable([]*ibv.WQ{wq, wq, wq})), "it has 3 entries: their number is a power of two"},
		{errorOf(ctx.CreateRWQIndTable([]*ibv.WQ{wq, nil})), "entry 1 is nil"},
		{errorOf(ctx.CreateRWQIndTable([]*ibv.WQ{wq2})), "entry 0 is nil or belongs to a different context"},
		{errorOf(qp.CreateFlow(nil)), "attributes are missing"},
		{errorOf(ctx.CreateFlowActionESP(nil, nil, nil)), "attributes are missing"},
		{(&ibv.FlowAction{Context: ctx}).ModifyESP(nil, nil, nil), "attributes are missing"},
		{qp.AttachCompCntr(nil, ibv.QPAttachCompCntrAttr{}), "the counter is nil"},
		{qp.AttachCompCntr(cntr2, ibv.QPAttachCompCntrAttr{}), "different context"},
		{errorOf(ctx.InitAHFromWC(0, &ibv.WC{}, nil)), "there is no port 0"},
		{errorOf(ctx.InitAHFromWC(1, nil, nil)), "the completion is missing"},
		{errorOf(ctx.InitAHFromWC(1, &ibv.WC{Status: ibv.WCWRFlushErr}, nil)), "not a success"},
		{errorOf(pd.CreateAHFromWC(&ibv.WC{WCFlags: ibv.WCGRH}, nil, 1)), "says that there is a header"},
		{errorOf(pd.CreateAHFromWC(&ibv.WC{}, nil, 256)), "there is no port 256"},
	} {
		require.ErrorIs(t, tt.err, syscall.EINVAL, "%d", i)
		require.ErrorContains(t, tt.err, tt.text)
	}
	require.Empty(t, r.Calls())
}

// An event says what it is about, as C's element has it, and of nothing else.
func TestAsyncEvent(t *testing.T) {
	cq, qp, srq, wq := new(ibv.CQ), new(ibv.QP), new(ibv.SRQ), new(ibv.WQ)
	type about struct {
		cq   *ibv.CQ
		qp   *ibv.QP
		srq  *ibv.SRQ
		wq   *ibv.WQ
		port uint32
	}
	want := map[ibv.EventType]about{
		ibv.EventCQErr: {cq: cq}, ibv.EventWQFatal: {wq: wq}, ibv.EventDeviceFatal: {}, ibv.EventSRQErr: {srq: srq}, ibv.EventSRQLimitReached: {srq: srq},
	}
	for _, typ := range []ibv.EventType{
		ibv.EventQPFatal, ibv.EventQPReqErr, ibv.EventQPAccessErr, ibv.EventCommEst, ibv.EventSQDrained,
		ibv.EventPathMig, ibv.EventPathMigErr, ibv.EventQPLastWQEReached,
	} {
		want[typ] = about{qp: qp}
	}
	for _, typ := range []ibv.EventType{
		ibv.EventPortActive, ibv.EventPortErr, ibv.EventLIDChange, ibv.EventPKeyChange, ibv.EventSMChange,
		ibv.EventClientReregister, ibv.EventGIDChange, ibv.EventDeviceSpeedChange, 21, 999,
	} {
		want[typ] = about{port: 3}
	}
	require.Len(t, want, int(ibv.EventDeviceSpeedChange)+3, "every type that there is, and two that there are not")
	for typ, a := range want {
		e := ibv.AsyncEvent{EventType: typ}
		switch {
		case a.cq != nil:
			e.Element.CQ().Set(a.cq)
		case a.qp != nil:
			e.Element.QP().Set(a.qp)
		case a.srq != nil:
			e.Element.SRQ().Set(a.srq)
		case a.wq != nil:
			e.Element.WQ().Set(a.wq)
		default:
			e.Element.SetPortNum(3)
		}
		require.Equal(t, a, about{e.CQ(), e.QP(), e.SRQ(), e.WQ(), e.Port()}, "%v", typ)
		require.Contains(t, e.String(), "asynchronous event "+typ.String())
		if a.port != 0 {
			require.Contains(t, e.String(), " of port 3")
		}
	}
}

// What FreeBSD lacks is a line for people, too.
func TestStringOfWork(t *testing.T) {
	action, counters, cntr := new(ibv.FlowAction), new(ibv.Counters), &ibv.CompCntr{Handle: 3}
	require.Equal(t, fmt.Sprintf("action of flows at %p", action), action.String())
	require.Equal(t, fmt.Sprintf("counters at %p", counters), counters.String())
	require.Equal(t, "completion counter (handle 3)", cntr.String())
	for _, none := range []fmt.Stringer{(*ibv.FlowAction)(nil), (*ibv.Counters)(nil), (*ibv.CompCntr)(nil)} {
		require.Equal(t, "<nil>", none.String())
	}
}

// Where C refuses attributes, the error names members that are set and whose bit
// CompMask lacks; what is not supported is listed. Nothing of it stops what C takes.
func TestMembersThatDoNotCount(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	ctx.NumCompVectors = 3
	pd, cq, xrcd, table := recorder.Object[ibv.PD](r), recorder.Object[ibv.CQ](r), recorder.Object[ibv.XRCD](r), recorder.Object[ibv.RWQIndTable](r)
	pd.Context, cq.Context, xrcd.Context, table.Context = ctx, ctx, ctx, ctx
	errorOf := func(_ any, err error) error { return err }
	qp := ibv.QPInitAttrEx{
		QPType: ibv.QPTRC, SendCQ: cq, RecvCQ: cq, PD: pd, XRCD: xrcd, CreateFlags: ibv.QPCreateBlockSelfMcastLb, MaxTSOHeader: 1, RWQIndTbl: table,
		RxHashConf: ibv.RxHashConf{RxHashFieldsMask: 1}, SourceQPN: 1, SendOpsFlags: uint64(ibv.QPExWithSend | ibv.QPExWithFlush),
	}
	qpNone, qpAll := qp, qp
	qpAll.CreateFlags |= ibv.QPCreateSourceQPN
	qpAll.CompMask = ibv.QPInitAttrPD | ibv.QPInitAttrXRCD | ibv.QPInitAttrCreateFlags | ibv.QPInitAttrMaxTSOHeader | ibv.QPInitAttrIndTable | ibv.QPInitAttrRxHash | ibv.QPInitAttrSendOpsFlags
	qpNames := []string{"PD", "XRCD", "CreateFlags", "MaxTSOHeader", "RWQIndTbl", "RxHashConf", "SourceQPN", "SendOpsFlags"}
	srqNone := ibv.SRQInitAttrEx{SRQType: ibv.SRQTTM, PD: pd, XRCD: xrcd, CQ: cq, TMCap: ibv.TMCap{MaxOps: 1}}
	srqAll := srqNone
	srqAll.CompMask = ibv.SRQInitAttrType | ibv.SRQInitAttrPD | ibv.SRQInitAttrXRCD | ibv.SRQInitAttrCQ | ibv.SRQInitAttrTM
	cqNone := ibv.CQInitAttrEx{CQE: 1, CompVector: 2, Flags: ibv.CreateCQAttrIgnoreOverrun, ParentDomain: pd, WCFlags: uint64(ibv.WCExWithTMInfo | ibv.WCExWithCVLAN)}
	cqAll := cqNone
	cqAll.CompMask = ibv.CQInitAttrMaskFlags | ibv.CQInitAttrMaskPD
	wqNone := ibv.WQInitAttr{PD: pd, CQ: cq, CreateFlags: ibv.WQFlagsScatterFCS}
	wqAll := wqNone
	wqAll.CompMask = ibv.WQInitAttrFlags
	parentNone := ibv.ParentDomainInitAttr{PD: pd, Alloc: 1, Free: 2, PDContext: 3}
	parentAll := parentNone
	parentAll.CompMask = ibv.ParentDomainInitAttrAllocators | ibv.ParentDomainInitAttrPDContext
	dmah := recorder.Object[ibv.DMAH](r)
	dmah.Context = ctx
	mrNone := ibv.MRInitAttr{Length: 1, IOVA: 1, Addr: 2, FD: 3, FDOffset: 4, DMAH: dmah, Buf: recorder.Object[ibv.Buf](r)}
	mrAll := mrNone
	mrAll.CompMask = uint64(ibv.RegMRMaskIOVA | ibv.RegMRMaskAddr | ibv.RegMRMaskFD | ibv.RegMRMaskFDOffset | ibv.RegMRMaskDMAH | ibv.RegMRMaskBuf)
	for _, tt := range []struct {
		function string
		call     func(all bool) error
		names    []string
		wanted   string // of what is named
	}{
		{"VerbsContext.CreateQPEx", func(all bool) error { attr := either(all, qpAll, qpNone); return errorOf(ctx.CreateQPEx(&attr)) }, qpNames,
			"QPType IBV_QPT_RC, CompMask IBV_QP_INIT_ATTR_XRCD|IBV_QP_INIT_ATTR_CREATE_FLAGS|IBV_QP_INIT_ATTR_MAX_TSO_HEADER|IBV_QP_INIT_ATTR_IND_TABLE|IBV_QP_INIT_ATTR_RX_HASH|IBV_QP_INIT_ATTR_SEND_OPS_FLAGS, " +
				"CreateFlags IBV_QP_CREATE_BLOCK_SELF_MCAST_LB|IBV_QP_CREATE_SOURCE_QPN, SendOpsFlags IBV_QP_EX_WITH_SEND|IBV_QP_EX_WITH_FLUSH"},
		{"VerbsContext.CreateSRQEx", func(all bool) error { attr := either(all, srqAll, srqNone); return errorOf(ctx.CreateSRQEx(&attr)) },
			[]string{"SRQType", "PD", "XRCD", "CQ", "TMCap"}, "SRQType IBV_SRQT_TM"},
		{"VerbsContext.CreateCQEx", func(all bool) error { attr := either(all, cqAll, cqNone); return errorOf(ctx.CreateCQEx(&attr)) },
			[]string{"Flags", "ParentDomain"}, "WCFlags IBV_WC_EX_WITH_CVLAN|IBV_WC_EX_WITH_TM_INFO, Flags IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN"},
		{"VerbsContext.CreateWQ", func(all bool) error { attr := either(all, wqAll, wqNone); return errorOf(ctx.CreateWQ(&attr)) },
			[]string{"CreateFlags"}, "CreateFlags IBV_WQ_FLAGS_SCATTER_FCS"},
		{"VerbsContext.AllocParentDomain", func(all bool) error {
			attr := either(all, parentAll, parentNone)
			return errorOf(ctx.AllocParentDomain(&attr))
		},
			[]string{"Alloc", "Free", "PDContext"}, ""},
		{"ibv_reg_mr_ex", func(all bool) error { attr := either(all, mrAll, mrNone); return errorOf(pd.RegMREx(&attr)) },
			[]string{"IOVA", "Addr", "FD", "FDOffset", "DMAH", "Buf"}, ""},
	} {
		t.Run(tt.function, func(t *testing.T) {
			refused := func(errno syscall.Errno, all bool) string {
				t.Helper()
				r.Play(tt.function, recorder.Response{Errno: errno})
				err := tt.call(all)
				require.ErrorIs(t, err, errno)
				r.Forget()
				return err.Error()
			}
			for _, name := range tt.names {
				require.Regexp(t, `\b`+name+` is set, but \w+ lacks IBV_`, refused(syscall.EINVAL, false))
			}
			require.NotContains(t, refused(syscall.EINVAL, true), "is set, but")
			for _, text := range []string{refused(syscall.EOPNOTSUPP, true), refused(syscall.EOPNOTSUPP, false)} {
				require.Contains(t, text, "(EOPNOTSUPP)")
			}
			if tt.wanted != "" {
				require.Contains(t, refused(syscall.EOPNOTSUPP, true), "; perhaps not all of this is there: "+tt.wanted)
				require.Contains(t, refused(syscall.EOPNOTSUPP, false), tt.names[0]+" is set, but CompMask lacks")
			}
		})
	}
	r.Play("VerbsContext.CreateCQEx", recorder.Response{Errno: syscall.EINVAL})
	require.ErrorContains(t, errorOf(ctx.CreateCQEx(&ibv.CQInitAttrEx{CQE: 1, CompVector: 3})), "CompVector is 3: the device has 3, counted from 0")
}

func either[T any](first bool, a, b T) T {
	if first {
		return a
	}
	return b
}
