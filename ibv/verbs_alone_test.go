//go:build !freebsd

package ibv_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/internal/recorder"
)

// Where the query is not there, or says so, the old one is asked, and nothing of
// what the new one may have written is left.
func TestQueryDeviceExFallsBack(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	var junk ibv.DeviceAttrEx
	for i := range unsafe.Sizeof(junk) {
		*(*byte)(unsafe.Add(unsafe.Pointer(&junk), i)) = 0xff // Safe: a byte of junk.
	}
	old := ibv.DeviceAttr{MaxQP: 13, PhysPortCnt: 2}
	want := ibv.DeviceAttrEx{OrigAttr: old}
	answer := recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&old)}}}

	whole := recordedContext(r, allOps)
	for _, errno := range []syscall.Errno{syscall.EOPNOTSUPP, syscall.ENOSYS} {
		r.Play("VerbsContext.QueryDeviceEx", recorder.Response{Result: uint64(errno), Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(&junk)}}})
		r.Play("ibv_query_device", answer)
		got, err := whole.QueryDeviceEx()
		require.NoError(t, err)
		require.Equal(t, want, got)
		calls := r.Calls()
		require.Len(t, calls, 2)
		calls[1].Require(t, "ibv_query_device", whole, uintptr(calls[0].Args[2]))
		r.Forget()
	}
	for _, size := range []uintptr{noOps, allOps - unsafe.Offsetof(ibv.VerbsContext{}.QueryDeviceEx) - 1} {
		r.Play("ibv_query_device", answer)
		short := recordedContext(r, size)
		got, err := short.QueryDeviceEx()
		require.NoError(t, err)
		require.Equal(t, want, got)
		r.Only().Require(t, "ibv_query_device", short)
	}
	r.Play("ibv_query_device", recorder.Response{Result: uint64(syscall.EMLINK)})
	_, err := recordedContext(r, noOps).QueryDeviceEx()
	require.ErrorIs(t, err, syscall.EMLINK)
	r.Forget()

	// Just long enough.
	_, err = recordedContext(r, allOps-unsafe.Offsetof(ibv.VerbsContext{}.QueryDeviceEx)).QueryDeviceEx()
	require.NoError(t, err)
	require.Equal(t, "VerbsContext.QueryDeviceEx", r.Only().Function)
}

// Libraries from before rdma-core 29 register memory by other functions.
func TestRegMRBefore29(t *testing.T) {
	functions := slices.DeleteFunc(recorder.Functions(t, factsFile, "infiniband"),
		func(name string) bool { return name == "ibv_reg_mr_iova2" })
	r := inLibrary(t, "before29.so", functions)
	if r == nil {
		return
	}
	pd := recorder.Object[ibv.PD](r)
	pd.Context = recordedContext(r, allOps)
	mr := recorder.Object[ibv.MR](r)
	mr.Context = pd.Context
	heap := make([]byte, 77)
	for function, tt := range map[string]struct {
		register func() (*ibv.MR, error)
		args     []any
	}{
		"ibv_reg_mr":      {func() (*ibv.MR, error) { return pd.RegMR(heap, 7) }, []any{pd, &heap[0], uint64(77), int32(7)}},
		"ibv_reg_mr_iova": {func() (*ibv.MR, error) { return pd.RegMRIOVA(heap, 1<<40, 7) }, []any{pd, &heap[0], uint64(77), uint64(1 << 40), int32(7)}},
	} {
		r.Play(function, recorder.Response{Result: address(mr)})
		got, err := tt.register()
		require.NoError(t, err)
		require.Same(t, mr, got)
		r.Only().Require(t, function, tt.args...)
		r.Play(function, recorder.Response{Errno: syscall.EMLINK})
		_, err = tt.register()
		require.ErrorIs(t, err, syscall.EMLINK)
		r.Forget()
	}
}

// A re-registration's error says what has become of the region.
func TestRereg(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd := recorder.Object[ibv.PD](r)
	pd.Context = ctx
	for _, tt := range []struct {
		result int
		code   ibv.ReregMRErrCode
		want   syscall.Errno
	}{
		{0, 0, 0},
		{-1, ibv.ReregMRErrInput, syscall.EMLINK},
		{-2, ibv.ReregMRErrDontForkNew, syscall.EMLINK},
		{-3, ibv.ReregMRErrDoForkOld, syscall.EMLINK},
		{-4, ibv.ReregMRErrCmd, syscall.EMLINK},
		{-5, ibv.ReregMRErrCmdAndDoForkNew, syscall.EMLINK},
		{-6, ibv.ReregMRErrCmd, syscall.EMLINK},
		{int(syscall.EOPNOTSUPP), ibv.ReregMRErrInput, syscall.EOPNOTSUPP},
		{int(syscall.EPIPE), ibv.ReregMRErrCmd, syscall.EPIPE},
	} {
		t.Run(fmt.Sprint(tt.result), func(t *testing.T) {
			mr := recorder.Object[ibv.MR](r)
			mr.Context = ctx
			r.Play("ibv_rereg_mr", recorder.Response{Result: recorder.Int(tt.result), Errno: syscall.EMLINK})
			err := mr.Rereg(ibv.ReregMRChangeTranslation, nil, make([]byte, 77), 0)
			if tt.result == 0 {
				require.NoError(t, err)
			} else {
				var failed *ibv.ReregMRError
				require.ErrorAs(t, err, &failed)
				require.Equal(t, tt.code, failed.Code)
				require.ErrorIs(t, err, tt.want)
				require.ErrorContains(t, err, "; the region ")
			}
			r.Forget()
		})
	}

	mr := recorder.Object[ibv.MR](r)
	mr.Context = ctx
	foreign := &ibv.PD{Context: recordedContext(r, allOps)}
	for text, call := range map[string]func() error{
		"ReregMRChangeTranslation is not among the flags": func() error { return mr.Rereg(ibv.ReregMRChangeAccess, nil, make([]byte, 1), 1) },
		"the memory is missing":                           func() error { return mr.Rereg(ibv.ReregMRChangeTranslation, nil, nil, 0) },
		"ReregMRChangePD is not among the flags":          func() error { return mr.Rereg(ibv.ReregMRChangeAccess, pd, nil, 1) },
		"missing, or of another context":                  func() error { return mr.Rereg(ibv.ReregMRChangePD, foreign, nil, 0) },
	} {
		err := call()
		require.ErrorContains(t, err, text)
		require.ErrorIs(t, err, syscall.EINVAL)
		var failed *ibv.ReregMRError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, ibv.ReregMRErrInput, failed.Code)
	}
	require.Empty(t, r.Calls())
}

// A memory window is bound as C binds one.
func TestBindMWChecks(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd, other := recorder.Object[ibv.PD](r), recorder.Object[ibv.PD](r)
	pd.Context, other.Context = ctx, ctx
	qp := &ibv.QP{Context: ctx}
	bind := func(mr *ibv.MR, addr, length uint64) *ibv.MWBind {
		b := &ibv.MWBind{BindInfo: ibv.MWBindInfo{Addr: addr, Length: length}}
		b.BindInfo.MR.Set(mr)
		return b
	}
	mr := recorder.Object[ibv.MR](r)
	mr.PD = pd
	mw := func(typ ibv.MWType, pd *ibv.PD) *ibv.MW { return &ibv.MW{Context: ctx, PD: pd, Type: typ} }
	for text, tt := range map[string]struct {
		mw   *ibv.MW
		bind *ibv.MWBind
		want syscall.Errno
	}{
		"it is of IBV_MW_TYPE_2":      {mw(ibv.MWType2, pd), bind(mr, 1, 1), syscall.EINVAL},
		"is missing":                  {mw(ibv.MWType1, pd), nil, syscall.EINVAL},
		"the window or":               {nil, bind(mr, 1, 1), syscall.EINVAL},
		"an address or a length":      {mw(ibv.MWType1, pd), bind(nil, 1, 0), syscall.EINVAL},
		"and no memory region":        {mw(ibv.MWType1, pd), bind(nil, 0, 1), syscall.EINVAL},
		"different protection domain": {mw(ibv.MWType1, other), bind(mr, 1, 1), syscall.EPERM},
	} {
		err := qp.BindMW(tt.mw, tt.bind)
		require.ErrorContains(t, err, text)
		require.ErrorIs(t, err, tt.want)
	}
	require.Empty(t, r.Calls())
	require.NoError(t, qp.BindMW(mw(ibv.MWType1, pd), bind(nil, 0, 0)), "this closes the window")
	require.Equal(t, "ContextOps.BindMW", r.Only().Function)
}

// What makes no sense is refused before C sees it.
func TestRefusedVerbs(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd, foreign := &ibv.PD{Context: ctx}, &ibv.PD{Context: recordedContext(r, allOps)}
	dm := recorder.Object[ibv.DM](r)
	dm.Context = ctx
	errorOf := func(_ any, err error) error { return err }
	for i, call := range []func() error{
		func() error { return errorOf(ctx.QueryPKey(0, 0)) },
		func() error { return errorOf(ctx.QueryPKey(256, 0)) },
		func() error { return errorOf(ctx.QueryPKey(1, 1<<31)) },
		func() error { return errorOf(ctx.PKeyIndex(0, 0)) },
		func() error { return errorOf(ctx.AllocParentDomain(nil)) },
		func() error { return errorOf(ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{})) },
		func() error { return errorOf(ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: foreign})) },
		func() error {
			return errorOf(ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: pd, TD: &ibv.TD{Context: foreign.Context}}))
		},
		func() error { return errorOf(pd.RegMRIOVA(nil, 1, 1)) },
		func() error { return errorOf(pd.RegMREx(nil)) },
		func() error { return errorOf(pd.RegMREx(&ibv.MRInitAttr{CompMask: uint64(ibv.RegMRMaskDMAH)})) },
		func() error {
			return errorOf(pd.RegMREx(&ibv.MRInitAttr{CompMask: uint64(ibv.RegMRMaskDMAH), DMAH: &ibv.DMAH{Context: foreign.Context}}))
		},
		func() error { return errorOf(pd.RegMREx(&ibv.MRInitAttr{CompMask: uint64(ibv.RegMRMaskBuf)})) },
		func() error { return new(ibv.AsyncEvent).Ack() },
		func() error { return (&ibv.AsyncEvent{EventType: ibv.EventQPFatal}).Ack() },
		func() error { return (&ibv.AsyncEvent{EventType: ibv.EventSRQErr}).Ack() },
		func() error { return (&ibv.AsyncEvent{EventType: ibv.EventWQFatal}).Ack() },
		func() error { return errorOf(ctx.AllocDM(nil)) },
		func() error { return errorOf(dm.ReadAt(make([]byte, 1), -1)) },
		func() error { return errorOf(dm.WriteAt(make([]byte, 1), -1)) },
		func() error { return errorOf(pd.RegDMMR(nil, 0, 1, 1)) },
		func() error { return errorOf(foreign.RegDMMR(dm, 0, 1, 1)) },
		func() error { return errorOf(ctx.AllocDMAH(nil)) },
		func() error { _, _, err := pd.AllocBuf(0); return err },
		func() error { return errorOf(pd.RegBufMR(nil, make([]byte, 1), 1)) },
		func() error { return errorOf(pd.RegBufMR(new(ibv.Buf), nil, 1)) },
		func() error { return (&ibv.QP{Context: ctx}).SetECE(nil) },
		func() error { return errorOf((*ibv.Device)(nil).Open()) },
		func() error { return errorOf((*ibv.Device)(nil).GUID()) },
		func() error { return errorOf((*ibv.Device)(nil).Index()) },
		func() error { return (*ibv.Buf)(nil).Close() },
		func() error { return errorOf((*ibv.Buf)(nil).ExportDMABufFD()) },
		func() error { _, _, err := ctx.ResolveEthL2(nil); return err },
	} {
		require.ErrorIs(t, call(), syscall.EINVAL, "call %d", i)
	}
	// Completion queues that C would look into, by what a queue pair has.
	const pdOps = ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags
	cq, table := &ibv.CQ{Context: ctx}, &ibv.RWQIndTable{Context: ctx}
	for i, attr := range []ibv.QPInitAttrEx{
		{QPType: ibv.QPTRC, CompMask: pdOps, PD: pd},
		{QPType: ibv.QPTRC, CompMask: pdOps, PD: pd, SendCQ: cq},
		{QPType: ibv.QPTUD, CompMask: pdOps, PD: pd, RecvCQ: cq},
		{QPType: ibv.QPTXRCSend, CompMask: pdOps, PD: pd},
		{QPType: ibv.QPTRawPacket, CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrIndTable, PD: pd, RWQIndTbl: table, Cap: ibv.QPCap{MaxSendWR: 1}},
	} {
		require.ErrorIs(t, errorOf(ctx.CreateQPEx(&attr)), syscall.EINVAL, "queue pair %d", i)
	}
	for _, fd := range []int{1 << 32, math.MinInt32 - 1} {
		require.ErrorIs(t, errorOf(ibv.ImportDevice(fd)), syscall.EBADF)
		require.ErrorIs(t, errorOf(pd.RegDMABufMR(0, 1, 0, fd, 1)), syscall.EBADF)
	}
	require.Empty(t, r.Calls())

	// Without attributes, those of a thread domain are zero.
	td := recorder.Object[ibv.TD](r)
	r.Play("VerbsContext.AllocTD", recorder.Response{Result: address(td), Copy: []recorder.Memory{{Arg: 1, Length: 4}}})
	_, err := ctx.AllocTD(nil)
	require.NoError(t, err)
	require.Equal(t, [][]byte{{0, 0, 0, 0}}, r.Only().Copied)

	// C answers these with -1, and the kernel with no number.
	r.Play("ibv_get_device_index", recorder.Response{Result: recorder.Int(-1)})
	_, err = ctx.Device.Index()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	r.Play("ibv_rate_to_mbps", recorder.Response{Result: recorder.Int(-1)})
	_, err = ibv.RateMax.Mbps()
	require.ErrorIs(t, err, syscall.EINVAL)
	r.Play("ibv_rate_to_mult", recorder.Response{Result: recorder.Int(-1)})
	_, err = ibv.RateMax.Mult()
	require.ErrorIs(t, err, syscall.EINVAL)
}

// What libibverbs says in English is passed on, and C's name stands in for it.
func TestDescriptions(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	text := append([]byte("as C says it"), 0)
	object := recorder.Object[struct{ Text [64]byte }](r)
	copy(object.Text[:], text)
	for function, describe := range map[string]struct {
		call func() string
		arg  uint32
		name string
	}{
		"ibv_node_type_str":  {ibv.NodeRNIC.Description, 4, "IBV_NODE_RNIC"},
		"ibv_port_state_str": {ibv.PortActive.Description, 4, "IBV_PORT_ACTIVE"},
		"ibv_event_type_str": {ibv.EventPortErr.Description, 10, "IBV_EVENT_PORT_ERR"},
		"ibv_wc_status_str":  {ibv.WCRNRRetryExcErr.Description, 13, "IBV_WC_RNR_RETRY_EXC_ERR"},
		"ibv_wr_opcode_str":  {ibv.WRRDMARead.Description, 4, "IBV_WR_RDMA_READ"},
	} {
		r.Play(function, recorder.Response{Result: address(object)})
		require.Equal(t, "as C says it", describe.call())
		r.Only().Require(t, function, describe.arg)
		require.Equal(t, describe.name, describe.call(), "C says nothing")
		r.Forget()
	}
}

func TestDescriptionsWithoutLibrary(t *testing.T) {
	if r := inEmptyLibrary(t); r == nil {
		return
	}
	require.Equal(t, "IBV_NODE_RNIC", ibv.NodeRNIC.Description())
	require.Equal(t, "IBV_PORT_ACTIVE", ibv.PortActive.Description())
	require.Equal(t, "IBV_EVENT_PORT_ERR", ibv.EventPortErr.Description())
	require.Equal(t, "IBV_WC_SUCCESS", ibv.WCSuccess.Description())
	require.Equal(t, "IBV_WR_RDMA_READ", ibv.WRRDMARead.Description())
}

// What is inline and pure gives what C's header gives.
func TestInlineArithmetic(t *testing.T) {
	p := newProvider(t, wholeContext)
	call := func(name string, args ...uintptr) uint32 {
		result, _ := dl.Call(p.Symbol(name), args...)
		return uint32(result)
	}
	for i := range uint32(2000) {
		n := i * 2654435761 // spread over all bits
		for _, n := range []uint32{n, n | 0xff, i, math.MaxUint32 - i} {
			require.Equal(t, call("inline_inc_rkey", uintptr(n)), ibv.IncRKey(n), "%#x", n)
			require.EqualValues(t, uint16(call("inline_flow_label_to_udp_sport", uintptr(n))), ibv.FlowLabelToUDPSport(n), "%#x", n)
			qpType := ibv.QPType(i % 32)
			require.Equal(t, call("inline_is_qpt_supported", uintptr(n), uintptr(qpType)) != 0, qpType.In(n), "%#x %v", n, qpType)
		}
	}
	require.False(t, ibv.QPType(32).In(math.MaxUint32))
}

// A region without memory in this process has no bytes.
func TestBytesOfNothing(t *testing.T) {
	require.Nil(t, (&ibv.MR{Length: math.MaxUint64}).Bytes())
	require.Nil(t, (&ibv.MR{Addr: 1, Length: math.MaxUint64}).Bytes())
}

// Advice that only one verb has.
func TestAdviceOfVerbs(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	mr := recorder.Object[ibv.MR](r)
	mr.Context = recordedContext(r, allOps)
	for _, errno := range []syscall.Errno{syscall.EBUSY, syscall.EINVAL} {
		r.Play("ibv_dereg_mr", recorder.Response{Result: uint64(errno)})
		err := mr.Close()
		require.ErrorIs(t, err, errno)
		require.ErrorContains(t, err, "a memory window")
		r.Forget()
	}
	for _, errno := range []syscall.Errno{syscall.EOPNOTSUPP, syscall.ENOSYS} {
		r.Play("ibv_query_port_speed", recorder.Response{Result: uint64(errno)})
		_, err := mr.Context.QueryPortSpeed(1)
		require.ErrorIs(t, err, errno)
		require.ErrorContains(t, err, "; ActiveSpeed and ActiveWidth of QueryPort")
		r.Forget()
	}
	r.Play("ibv_query_port_speed", recorder.Response{Result: uint64(syscall.EINVAL)})
	_, err := mr.Context.QueryPortSpeed(9)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.NotContains(t, err.Error(), "ActiveSpeed")
}

// A library that came before the speed of ports leads to what it has.
func TestPortSpeedOfOldLibrary(t *testing.T) {
	r := inEmptyLibrary(t)
	if r == nil {
		return
	}
	_, err := recordedContext(r, allOps).QueryPortSpeed(1)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "ibv_query_port_speed")
	require.ErrorContains(t, err, "; ActiveSpeed and ActiveWidth of QueryPort")
}

// Advice about nothing is refused without asking C.
func TestAdviseMRWithoutParts(t *testing.T) {
	p := newProvider(t, wholeContext)
	err := (&ibv.PD{Context: p.Context}).AdviseMR(ibv.AdviseMRAdvicePrefetch, 0, nil)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "there are no parts")
	require.Zero(t, p.Saw(calls))
}
