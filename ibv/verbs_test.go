//go:build !freebsd

package ibv_test

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/recorder"
)

// A convention is the way in which a function of C tells that it failed.
type convention int

const (
	givesNull   convention = iota // NULL and errno
	givesStatus                   // 0, an errno value, its negative, or -1 and errno
	givesMinus                    // -1 and errno
	givesCount                    // a negative errno value
	cannotFail
)

// boundVerb is a method of the package and the call that it makes.
type boundVerb struct {
	function string // of C's, or TYPE.MEMBER of Go's
	fails    convention
	call     func() (any, error)
	args     []any              // what C must see, by position
	does     recorder.Response  // when it succeeds
	want     any                // what call returns then
	saw      [][]byte           // what C must have seen in memory
	check    func(t *testing.T) // what else there is to see then

	nowhere   bool   // the error names no device
	clear     any    // the object whose function it is, if that is no context
	fallsBack string // the function that is called where this one is missing
}

// verbTable is a table of verbs that are tested as all are.
type verbTable = func(r *recorder.Recorder, ctx *ibv.Context) []boundVerb

// requireVerbs tests verbs: the arguments of the call, its result, and every way in
// which it may fail.
func requireVerbs(t *testing.T, r *recorder.Recorder, table verbTable) {
	t.Helper()
	for _, v := range table(r, recordedContext(r, allOps)) {
		t.Run(v.function, func(t *testing.T) {
			r.Forget()
			r.Play(v.function, v.does)
			got, err := v.call()
			require.NoError(t, err)
			require.Equal(t, v.want, got)
			call := r.Only()
			call.Require(t, v.function, v.args...)
			require.Equal(t, v.saw, call.Copied)
			if v.check != nil {
				v.check(t)
			}
			for _, f := range failures[v.fails] {
				r.Play(v.function, f.response)
				_, err := v.call()
				want := f.want
				if f.want == syscall.EIO && f.response.Errno == 0 && errors.Is(err, syscall.EINVAL) {
					// C gave no reason, and these arguments, which are none, have one.
					require.Regexp(t, `invalid argument \(EINVAL\); .`, err.Error())
					want = syscall.EINVAL
				}
				require.ErrorIs(t, err, want, "%+v", f)
				require.ErrorContains(t, err, "ibv: ")
				if !v.nowhere {
					require.ErrorContains(t, err, " on recorder0: ")
				}
				calls := r.Calls()
				require.NotEmpty(t, calls)
				require.Equal(t, v.function, calls[0].Function)
				for _, c := range calls[1:] { // why it failed
					require.Contains(t, []string{"ibv_query_device", "ibv_query_qp"}, c.Function)
				}
				r.Forget()
			}
		})
	}
}

type failure struct {
	response recorder.Response
	want     syscall.Errno
}

var failures = map[convention][]failure{
	givesNull: {
		{recorder.Response{Errno: syscall.EMLINK}, syscall.EMLINK},
		{recorder.Response{}, syscall.EIO},
	},
	givesStatus: {
		{recorder.Response{Result: recorder.Int(int(syscall.EMLINK)), Errno: syscall.EPIPE}, syscall.EMLINK},
		{recorder.Response{Result: recorder.Int(-int(syscall.EMLINK)), Errno: syscall.EPIPE}, syscall.EMLINK},
		{recorder.Response{Result: recorder.Int(-1), Errno: syscall.EMLINK}, syscall.EMLINK},
		{recorder.Response{Result: recorder.Int(-1)}, syscall.EIO},
	},
	givesMinus: {
		{recorder.Response{Result: recorder.Int(-1), Errno: syscall.EMLINK}, syscall.EMLINK},
		{recorder.Response{Result: recorder.Int(-1)}, syscall.EIO},
	},
	givesCount: {
		{recorder.Response{Result: recorder.Int(-int(syscall.EMLINK)), Errno: syscall.EPIPE}, syscall.EMLINK},
	},
}

// requireMissing tests verbs where there is nothing to call: a library without the
// functions, and contexts that are too short for the operations or lack them.
func requireMissing(t *testing.T, r *recorder.Recorder, table verbTable) {
	t.Helper()
	unsupported := func(t *testing.T, v boundVerb, text string) {
		t.Helper()
		_, err := v.call()
		assert.ErrorIs(t, err, errors.ErrUnsupported)
		assert.ErrorIs(t, err, syscall.EOPNOTSUPP)
		assert.ErrorContains(t, err, text)
		assert.Empty(t, r.Calls(), "nothing may be called")
		r.Forget()
	}
	for _, v := range table(r, recordedContext(r, noOps)) {
		if strings.HasPrefix(v.function, "VerbsContext.") {
			t.Run(v.function+" of a short context", func(t *testing.T) { unsupported(t, v, "") })
		}
	}
	ctx := recordedContext(r, allOps)
	ctx.ABICompat = 0
	for _, v := range table(r, ctx) {
		if strings.HasPrefix(v.function, "VerbsContext.") {
			t.Run(v.function+" of a context that is not extended", func(t *testing.T) { unsupported(t, v, "") })
		}
	}
	ctx = recordedContext(r, allOps)
	clear := func(object any) {
		v := reflect.ValueOf(object).Elem()
		for i := range v.NumField() {
			if v.Field(i).Type() == reflect.TypeFor[ibv.FuncPtr]() {
				v.Field(i).SetZero()
			}
		}
	}
	whole := uintptr(unsafe.Pointer(ctx)) - unsafe.Offsetof(ibv.VerbsContext{}.Context)
	clear(*(**ibv.VerbsContext)(unsafe.Pointer(&whole))) // Safe: the context is the object's last member.
	clear(&ctx.Ops)
	for _, v := range table(r, ctx) {
		if strings.Contains(v.function, ".") {
			if v.clear != nil {
				clear(v.clear)
			}
			t.Run(v.function+" that is NULL", func(t *testing.T) { unsupported(t, v, "") })
		} else {
			t.Run(v.function, func(t *testing.T) {
				text := cmp.Or(v.fallsBack, v.function) + " in "
				if since := recorder.Since(t, factsFile, v.function); since != "" {
					text += os.Getenv("GOVERBS_LIBIBVERBS") + ", which is older than rdma-core " + since
				}
				unsupported(t, v, text)
			})
		}
	}
}

// address is an object of C's as a function returns it.
func address[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// errorOnly is for verbs that return nothing else.
func errorOnly(err error) (any, error) { return nil, err }

// of makes the results of a verb those of a table's call.
func of[T any](v T, err error) (any, error) { return v, err }

func resourceVerbs(r *recorder.Recorder, ctx *ibv.Context) []boundVerb {
	pd := recorder.Object[ibv.PD](r)
	pd.Context = ctx
	mr := recorder.Object[ibv.MR](r)
	mr.Context, mr.PD = ctx, pd
	td := recorder.Object[ibv.TD](r)
	td.Context = ctx
	mw := recorder.Object[ibv.MW](r)
	mw.Context, mw.PD, mw.Type = ctx, pd, ibv.MWType1
	dm := recorder.Object[ibv.DM](r)
	dm.Context = ctx
	dmah := recorder.Object[ibv.DMAH](r)
	dmah.Context = ctx
	qp := recorder.Object[ibv.QP](r)
	qp.Context, qp.PD = ctx, pd
	// A buffer is opaque: any memory of C's will do.
	block := recorder.Object[struct{ Words [64]uint64 }](r)
	buf := (*ibv.Buf)(unsafe.Pointer(block)) // Safe: it is only a pointer for C.
	memory := unsafe.Slice((*byte)(unsafe.Pointer(block)), unsafe.Sizeof(*block))

	gid := ibv.GIDEntry{GIDIndex: 5, PortNum: 6, GIDType: 7, NdevIfindex: 8}
	deviceAttr := ibv.DeviceAttrEx{HCACoreClock: 11, MaxDMSize: 12, OrigAttr: ibv.DeviceAttr{MaxQP: 13}}
	portAttr := ibv.PortAttr{GIDTblLen: 11, LID: 12, PortCapFlags2: 13}
	pkey, speed := ibv.ToBE16(0x8123), uint64(4000)
	mask, values := ibv.ValuesMask(0x77), ibv.ValuesEx{CompMask: 1, RawClock: ibv.Timespec{TvSec: 2, TvNsec: 3}}
	tdAttr := &ibv.TDInitAttr{CompMask: 0x31}
	domain := &ibv.ParentDomainInitAttr{PD: pd, TD: td, CompMask: 4, Alloc: 5, Free: 6, PDContext: 7}
	mrAttr := &ibv.MRInitAttr{Length: 1, Access: 2, CompMask: 3, IOVA: 4, Addr: 5, FD: 6, FDOffset: 7, DMAH: dmah, Buf: buf}
	dmAttr := &ibv.AllocDMAttr{Length: 1, LogAlignReq: 2, CompMask: 3}
	dmahAttr := &ibv.DMAHInitAttr{CompMask: 1, CPUID: 2, Ph: 3, TPHMemType: 4}
	parts := []ibv.SGE{{Addr: 1, Length: 2, LKey: 3}, {Addr: 4, Length: 5, LKey: 6}}
	bind := &ibv.MWBind{WRID: 1, SendFlags: 2, BindInfo: ibv.MWBindInfo{Addr: 3, Length: 4, MWAccessFlags: 5}}
	bind.BindInfo.MR.Set(mr)
	ece, accepted := &ibv.ECE{VendorID: 1, Options: 2, CompMask: 3}, ibv.ECE{VendorID: 4, Options: 5}
	ah := &ibv.AHAttr{DLID: 0x1112, PortNum: 3}
	heap, other := make([]byte, 77), make([]byte, 78)
	mac, vlan := [6]byte{1, 2, 3, 4, 5, 6}, uint16(0x789)
	table := make([]ibv.GIDEntry, 9)
	entrySize := unsafe.Sizeof(ibv.GIDEntry{})

	copied := func(arg int, length uintptr) []recorder.Memory {
		return []recorder.Memory{{Arg: arg, Length: int(length)}}
	}
	filled := func(arg int, bytes []byte) []recorder.Memory { return []recorder.Memory{{Arg: arg, Bytes: bytes}} }
	saw := func(bytes ...[]byte) [][]byte { return bytes }

	return []boundVerb{
		{function: "VerbsContext.QueryDeviceEx", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryDeviceEx()) },
			args: []any{ctx, nil, recorder.Anything, unsafe.Sizeof(deviceAttr)},
			does: recorder.Response{Fill: filled(2, recorder.Bytes(&deviceAttr))}, want: deviceAttr, fallsBack: "ibv_query_device"},
		{function: "ibv_open_device", fails: givesNull, nowhere: true, call: func() (any, error) { return of(ctx.Device.Open()) },
			args: []any{ctx.Device}, does: recorder.Response{Result: address(ctx)}, want: ctx},
		{function: "ibv_close_device", fails: givesStatus, call: func() (any, error) { return errorOnly(ctx.Close()) }, args: []any{ctx}},
		{function: "ibv_query_device", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryDevice()) },
			args: []any{ctx, recorder.Anything}, want: deviceAttr.OrigAttr,
			does: recorder.Response{Fill: filled(1, recorder.Bytes(&deviceAttr.OrigAttr))}},
		{function: "VerbsContext.QueryPort", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryPort(3)) },
			args: []any{ctx, uint8(3), recorder.Anything, unsafe.Sizeof(portAttr)}, want: portAttr, fallsBack: "ibv_query_port",
			does: recorder.Response{Fill: filled(2, recorder.Bytes(&portAttr))}},
		{function: "ibv_query_port_speed", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryPortSpeed(0x1234567)) },
			args: []any{ctx, uint32(0x1234567), recorder.Anything},
			does: recorder.Response{Fill: filled(2, recorder.Bytes(&speed))}, want: speed},
		{function: "ibv_query_pkey", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryPKey(3, 0x12345678)) },
			args: []any{ctx, uint8(3), int32(0x12345678), recorder.Anything},
			does: recorder.Response{Fill: filled(3, recorder.Bytes(&pkey))}, want: pkey},
		{function: "ibv_get_pkey_index", fails: givesMinus, call: func() (any, error) { return of(ctx.PKeyIndex(3, pkey)) },
			args: []any{ctx, uint8(3), pkey}, does: recorder.Response{Result: 5}, want: uint16(5)},
		{function: "_ibv_query_gid_ex", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryGIDEntry(3, 4)) },
			args: []any{ctx, uint32(3), uint32(4), recorder.Anything, uint32(0), entrySize},
			does: recorder.Response{Fill: filled(3, recorder.Bytes(&gid))}, want: gid},
		{function: "ibv_query_gid", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryGID(3, 4)) },
			args: []any{ctx, uint8(3), int32(4), recorder.Anything},
			does: recorder.Response{Fill: filled(3, recorder.Bytes(&gid.GID))}, want: gid.GID},
		{function: "_ibv_query_gid_table", fails: givesCount, call: func() (any, error) { return of(ctx.QueryGIDTable(table)) },
			args: []any{ctx, &table[0], uint64(9), uint32(0), entrySize},
			does: recorder.Response{Result: 2, Fill: filled(1, recorder.Bytes(&gid))}, want: 2,
			check: func(t *testing.T) { require.Equal(t, gid, table[0]) }},
		{function: "ibv_get_device_guid", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ctx.Device.GUID()) },
			args: []any{ctx.Device}, does: recorder.Response{Result: 0x1122334455667788}, want: ibv.BE64(0x1122334455667788)},
		{function: "ibv_get_device_index", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ctx.Device.Index()) },
			args: []any{ctx.Device}, does: recorder.Response{Result: 5}, want: 5},
		{function: "ibv_import_device", fails: givesNull, nowhere: true, call: func() (any, error) { return of(ibv.ImportDevice(123)) },
			args: []any{int32(123)}, does: recorder.Response{Result: address(ctx)}, want: ctx},
		{function: "ibv_alloc_pd", fails: givesNull, call: func() (any, error) { return of(ctx.AllocPD()) },
			args: []any{ctx}, does: recorder.Response{Result: address(pd)}, want: pd},
		{function: "ibv_dealloc_pd", fails: givesStatus, call: func() (any, error) { return errorOnly(pd.Close()) }, args: []any{pd}},
		{function: "ibv_import_pd", fails: givesNull, call: func() (any, error) { return of(ctx.ImportPD(0xfedcba98)) },
			args: []any{ctx, uint32(0xfedcba98)}, does: recorder.Response{Result: address(pd)}, want: pd},
		{function: "ibv_unimport_pd", fails: cannotFail, call: func() (any, error) { return errorOnly(pd.Unimport()) }, args: []any{pd}},
		{function: "ibv_import_mr", fails: givesNull, call: func() (any, error) { return of(pd.ImportMR(0xfedcba98)) },
			args: []any{pd, uint32(0xfedcba98)}, does: recorder.Response{Result: address(mr)}, want: mr},
		{function: "ibv_unimport_mr", fails: cannotFail, call: func() (any, error) { return errorOnly(mr.Unimport()) }, args: []any{mr}},
		{function: "ibv_import_dm", fails: givesNull, call: func() (any, error) { return of(ctx.ImportDM(0xfedcba98)) },
			args: []any{ctx, uint32(0xfedcba98)}, does: recorder.Response{Result: address(dm)}, want: dm},
		{function: "ibv_unimport_dm", fails: cannotFail, call: func() (any, error) { return errorOnly(dm.Unimport()) }, args: []any{dm}},
		{function: "VerbsContext.AllocTD", fails: givesNull, call: func() (any, error) { return of(ctx.AllocTD(tdAttr)) },
			args: []any{ctx, tdAttr}, want: td, saw: saw(recorder.Bytes(tdAttr)),
			does: recorder.Response{Result: address(td), Copy: copied(1, unsafe.Sizeof(*tdAttr))}},
		{function: "VerbsContext.DeallocTD", fails: givesStatus, call: func() (any, error) { return errorOnly(td.Close()) }, args: []any{td}},
		{function: "VerbsContext.AllocParentDomain", fails: givesNull, call: func() (any, error) { return of(ctx.AllocParentDomain(domain)) },
			args: []any{ctx, domain}, want: pd, saw: saw(recorder.Bytes(domain)),
			does: recorder.Response{Result: address(pd), Copy: copied(1, unsafe.Sizeof(*domain))}},
		{function: "ibv_reg_mr_iova2", fails: givesNull, call: func() (any, error) { return of(pd.RegMRIOVA(heap, 0xfedcba9876543210, 0x3ff00001)) },
			args: []any{pd, &heap[0], uint64(len(heap)), uint64(0xfedcba9876543210), uint32(0x3ff00001)},
			does: recorder.Response{Result: address(mr)}, want: mr, fallsBack: "ibv_reg_mr_iova"},
		{function: "ibv_reg_mr_iova2", fails: givesNull, call: func() (any, error) { return of(pd.RegMR(heap, 7)) },
			args: []any{pd, &heap[0], uint64(len(heap)), &heap[0], uint32(7)},
			does: recorder.Response{Result: address(mr)}, want: mr, fallsBack: "ibv_reg_mr"},
		{function: "ibv_reg_dmabuf_mr", fails: givesNull, call: func() (any, error) { return of(pd.RegDMABufMR(1<<40, 2<<40, 3<<40, 4, 5)) },
			args: []any{pd, uint64(1 << 40), uint64(2 << 40), uint64(3 << 40), int32(4), int32(5)},
			does: recorder.Response{Result: address(mr)}, want: mr},
		{function: "ibv_reg_mr_ex", fails: givesNull, call: func() (any, error) { return of(pd.RegMREx(mrAttr)) },
			args: []any{pd, mrAttr}, want: mr, saw: saw(recorder.Bytes(mrAttr)),
			does: recorder.Response{Result: address(mr), Copy: copied(1, unsafe.Sizeof(*mrAttr))}},
		{function: "ibv_rereg_mr", fails: givesMinus, call: func() (any, error) { return errorOnly(mr.Rereg(7, pd, other, 9)) },
			args: []any{mr, int32(7), pd, &other[0], uint64(len(other)), int32(9)}},
		{function: "ibv_dereg_mr", fails: givesStatus, call: func() (any, error) { return errorOnly(mr.Close()) }, args: []any{mr}},
		{function: "VerbsContext.AllocNullMR", fails: givesNull, call: func() (any, error) { return of(pd.AllocNullMR()) },
			args: []any{pd}, does: recorder.Response{Result: address(mr)}, want: mr},
		{function: "VerbsContext.AdviseMR", fails: givesStatus,
			call: func() (any, error) {
				return errorOnly(pd.AdviseMR(ibv.AdviseMRAdvicePrefetchNoFault, ibv.AdviseMRFlagFlush, parts))
			},
			args: []any{pd, uint32(2), uint32(1), &parts[0], uint32(2)}, saw: saw(append(recorder.Bytes(&parts[0]), recorder.Bytes(&parts[1])...)),
			does: recorder.Response{Copy: copied(3, 2*unsafe.Sizeof(parts[0]))}},
		{function: "ContextOps.AllocMW", fails: givesNull, call: func() (any, error) { return of(pd.AllocMW(ibv.MWType2)) },
			args: []any{pd, uint32(2)}, does: recorder.Response{Result: address(mw)}, want: mw},
		{function: "ContextOps.DeallocMW", fails: givesStatus, call: func() (any, error) { return errorOnly(mw.Close()) }, args: []any{mw}},
		{function: "ContextOps.BindMW", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.BindMW(mw, bind)) },
			args: []any{qp, mw, bind}, saw: saw(recorder.Bytes(bind)), does: recorder.Response{Copy: copied(2, unsafe.Sizeof(*bind))}},
		{function: "VerbsContext.AllocDM", fails: givesNull, call: func() (any, error) { return of(ctx.AllocDM(dmAttr)) },
			args: []any{ctx, dmAttr}, want: dm, saw: saw(recorder.Bytes(dmAttr)),
			does: recorder.Response{Result: address(dm), Copy: copied(1, unsafe.Sizeof(*dmAttr))}},
		{function: "VerbsContext.FreeDM", fails: givesStatus, call: func() (any, error) { return errorOnly(dm.Close()) }, args: []any{dm}},
		{function: "DM.MemcpyToDM", fails: givesStatus, clear: dm, call: func() (any, error) { return of(io.WriterAt(dm).WriteAt(heap[:11], 1<<40)) },
			args: []any{dm, uint64(1 << 40), &heap[0], uint64(11)}, want: 11},
		{function: "DM.MemcpyFromDM", fails: givesStatus, clear: dm, call: func() (any, error) { return of(io.ReaderAt(dm).ReadAt(other[:12], 2<<40)) },
			args: []any{&other[0], dm, uint64(2 << 40), uint64(12)}, want: 12,
			does:  recorder.Response{Fill: filled(0, []byte("from the dev"))},
			check: func(t *testing.T) { require.Equal(t, "from the dev\x00", string(other[:13])) }},
		{function: "ibv_dm_export_dmabuf_fd", fails: givesMinus, call: func() (any, error) { return of(dm.ExportDMABufFD()) },
			args: []any{dm}, does: recorder.Response{Result: 17}, want: 17},
		{function: "VerbsContext.RegDMMR", fails: givesNull, call: func() (any, error) { return of(pd.RegDMMR(dm, 1<<40, 2<<40, 5)) },
			args: []any{pd, dm, uint64(1 << 40), uint64(2 << 40), uint32(5)}, does: recorder.Response{Result: address(mr)}, want: mr},
		{function: "ibv_alloc_dmah", fails: givesNull, call: func() (any, error) { return of(ctx.AllocDMAH(dmahAttr)) },
			args: []any{ctx, dmahAttr}, want: dmah, saw: saw(recorder.Bytes(dmahAttr)),
			does: recorder.Response{Result: address(dmah), Copy: copied(1, unsafe.Sizeof(*dmahAttr))}},
		{function: "ibv_dealloc_dmah", fails: givesStatus, call: func() (any, error) { return errorOnly(dmah.Close()) }, args: []any{dmah}},
		{function: "ibv_alloc_buf", fails: givesNull, call: func() (any, error) {
			b, memory, err := pd.AllocBuf(len(memory))
			return allocated{b, memory}, err
		}, args: []any{pd, uint64(len(memory)), recorder.Anything}, want: allocated{buf, memory},
			does: recorder.Response{Result: address(&memory[0]), Fill: filled(2, recorder.Bytes(&buf))}},
		{function: "ibv_free_buf", fails: cannotFail, call: func() (any, error) { return errorOnly(buf.Close()) }, args: []any{buf}},
		{function: "ibv_reg_buf_mr", fails: givesNull, call: func() (any, error) { return of(pd.RegBufMR(buf, memory[8:24], 5)) },
			args: []any{pd, buf, &memory[8], uint64(16), int32(5)}, does: recorder.Response{Result: address(mr)}, want: mr},
		{function: "ibv_export_buf_dmabuf_fd", fails: givesMinus, nowhere: true, call: func() (any, error) { return of(buf.ExportDMABufFD()) },
			args: []any{buf}, does: recorder.Response{Result: 17}, want: 17},
		{function: "ibv_query_qp_data_in_order", fails: cannotFail,
			call: func() (any, error) {
				return of(qp.QueryQPDataInOrder(ibv.WRRDMARead, ibv.QueryQPDataInOrderReturnCaps))
			},
			args: []any{qp, uint32(ibv.WRRDMARead), uint32(1)}, does: recorder.Response{Result: 3}, want: ibv.QueryQPDataInOrderCaps(3)},
		{function: "VerbsContext.QueryRtValues", fails: givesStatus, call: func() (any, error) { return of(ctx.QueryRTValues(mask)) },
			args: []any{ctx, recorder.Anything}, want: values, saw: saw(recorder.Bytes(&mask)),
			does: recorder.Response{Copy: copied(1, unsafe.Sizeof(mask)), Fill: filled(1, recorder.Bytes(&values))}},
		{function: "ibv_set_ece", fails: givesStatus, call: func() (any, error) { return errorOnly(qp.SetECE(ece)) }, args: []any{qp, ece},
			saw:   saw(recorder.Bytes(ece)),
			does:  recorder.Response{Copy: copied(1, unsafe.Sizeof(*ece)), Fill: filled(1, recorder.Bytes(&accepted))},
			check: func(t *testing.T) { require.Equal(t, accepted, *ece) }},
		{function: "ibv_query_ece", fails: givesStatus, call: func() (any, error) { return of(qp.QueryECE()) }, args: []any{qp, recorder.Anything},
			want: accepted, does: recorder.Response{Fill: filled(1, recorder.Bytes(&accepted))}},
		{function: "ibv_fork_init", fails: givesStatus, nowhere: true, call: func() (any, error) { return errorOnly(ibv.ForkInit()) }},
		{function: "ibv_is_fork_initialized", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ibv.IsForkInitialized()) },
			does: recorder.Response{Result: 2}, want: ibv.ForkUnneeded},
		{function: "ibv_resolve_eth_l2_from_gid", fails: givesStatus, call: func() (any, error) {
			mac, vlan, err := ctx.ResolveEthL2(ah)
			return fmt.Sprint(mac, vlan), err
		}, args: []any{ctx, ah, recorder.Anything, recorder.Anything}, want: fmt.Sprint(mac, vlan), saw: saw(recorder.Bytes(ah)),
			does: recorder.Response{Copy: copied(1, unsafe.Sizeof(*ah)),
				Fill: []recorder.Memory{{Arg: 2, Bytes: mac[:]}, {Arg: 3, Bytes: recorder.Bytes(&vlan)}}}},
		{function: "ibv_rate_to_mbps", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ibv.Rate(7).Mbps()) },
			args: []any{uint32(7)}, does: recorder.Response{Result: 40000}, want: 40000},
		{function: "ibv_rate_to_mult", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ibv.Rate(7).Mult()) },
			args: []any{uint32(7)}, does: recorder.Response{Result: 16}, want: 16},
		{function: "mbps_to_ibv_rate", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ibv.RateOfMbps(-40000)) },
			args: []any{int32(-40000)}, does: recorder.Response{Result: 7}, want: ibv.Rate(7)},
		{function: "mult_to_ibv_rate", fails: cannotFail, nowhere: true, call: func() (any, error) { return of(ibv.RateOfMult(-16)) },
			args: []any{int32(-16)}, does: recorder.Response{Result: 7}, want: ibv.Rate(7)},
	}
}

// allocated is what AllocBuf returns.
type allocated struct {
	buf    *ibv.Buf
	memory []byte
}

func TestVerbsOfResources(t *testing.T) {
	if r := inRecorder(t); r != nil {
		requireVerbs(t, r, resourceVerbs)
	}
}

func TestMissingVerbsOfResources(t *testing.T) {
	if r := inEmptyLibrary(t); r != nil {
		requireMissing(t, r, resourceVerbs)
	}
}
