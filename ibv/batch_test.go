//go:build !freebsd

package ibv_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/scripted"
)

func newBatch(t testing.TB, qp *ibv.QPEx, ops ibv.QPCreateSendOpsFlags, n, maxSGE int) *ibv.Batch {
	t.Helper()
	b, err := ibv.NewBatch(qp, ops, n, maxSGE)
	require.NoError(t, err)
	return b
}

// words are numbers as C has them in memory.
func words(numbers ...any) (bytes []byte) {
	for _, n := range numbers {
		bytes, _ = binary.Append(bytes, binary.NativeEndian, n)
	}
	return bytes
}

// Values that differ in each of their halves, and have the highest bit.
const (
	aWRID   = 0xf1f2f3f4f5f6f7f8
	aRKey   = 0xe1e2e3e4
	aRemote = 0xd1d2d3d4d5d6d7d8
	aNumber = 0xc1c2c3c4c5c6c7c8
	another = 0xb1b2b3b4b5b6b7b8
	aLKey   = 0xa1a2a3a4
	someAt  = 0x9192939495969798
	aLength = 0x8182838485868788
)

// batchOperation is an operation, and what C must see of it.
type batchOperation struct {
	name   string
	flag   ibv.QPCreateSendOpsFlags
	begin  func(b *ibv.Batch, i int, flags ibv.SendFlags) error
	args   []uint64
	bytes  []byte
	data   string // "any", "registered" or "none"
	remote bool
	alone  bool // has no receiver
}

func batchOperations() []batchOperation {
	mw, mr := &ibv.MW{Type: ibv.MWType2, RKey: aRKey ^ 0xff}, aRegion
	imm := ibv.BE32(0x91929394)
	info := &ibv.MWBindInfo{MR: ibv.ToPtr(mr), Addr: aRemote, Length: aLength, MWAccessFlags: ibv.AccessRemoteWrite | ibv.AccessRemoteRead}
	return []batchOperation{
		{name: "wr_send", flag: ibv.QPExWithSend, data: "any",
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.Send(i, aWRID, f) }},
		{name: "wr_send_imm", flag: ibv.QPExWithSendWithImm, data: "any", args: []uint64{0x91929394},
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.SendImm(i, aWRID, f, imm) }},
		{name: "wr_send_inv", flag: ibv.QPExWithSendWithInv, data: "any", args: []uint64{aRKey},
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.SendInv(i, aWRID, f, aRKey) }},
		{name: "wr_rdma_write", flag: ibv.QPExWithRDMAWrite, data: "any", args: []uint64{aRKey, aRemote}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.RDMAWrite(i, aWRID, f, aRemote, aRKey) }},
		{name: "wr_rdma_write_imm", flag: ibv.QPExWithRDMAWriteWithImm, data: "any", args: []uint64{aRKey, aRemote, 0x91929394}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.RDMAWriteImm(i, aWRID, f, aRemote, aRKey, imm)
			}},
		{name: "wr_rdma_read", flag: ibv.QPExWithRDMARead, data: "registered", args: []uint64{aRKey, aRemote}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.RDMARead(i, aWRID, f, aRemote, aRKey) }},
		{name: "wr_atomic_cmp_swp", flag: ibv.QPExWithAtomicCmpAndSwp, data: "registered", args: []uint64{aRKey, aRemote, aNumber, another}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.AtomicCmpSwp(i, aWRID, f, aRemote, aRKey, aNumber, another)
			}},
		{name: "wr_atomic_fetch_add", flag: ibv.QPExWithAtomicFetchAndAdd, data: "registered", args: []uint64{aRKey, aRemote, aNumber}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.AtomicFetchAdd(i, aWRID, f, aRemote, aRKey, aNumber)
			}},
		{name: "wr_atomic_write", flag: ibv.QPExWithAtomicWrite, data: "none", args: []uint64{aRKey, aRemote}, bytes: words(uint64(aNumber)), remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.AtomicWrite(i, aWRID, f, aRemote, aRKey, aNumber)
			}},
		{name: "wr_flush", flag: ibv.QPExWithFlush, data: "none", args: []uint64{aRKey, aRemote, aLength, 3, 1}, remote: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.Flush(i, aWRID, f, aRemote, aRKey, aLength, ibv.FlushGlobal|ibv.FlushPersistent, ibv.FlushMR)
			}},
		{name: "wr_local_inv", flag: ibv.QPExWithLocalInv, data: "none", args: []uint64{aRKey}, alone: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.LocalInv(i, aWRID, f, aRKey) }},
		{name: "wr_bind_mw", flag: ibv.QPExWithBindMW, data: "none", args: []uint64{addressOf(mw), aRKey},
			bytes: words(addressOf(mr), uint64(aRemote), uint64(aLength), uint64(6)), alone: true,
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error { return b.BindMW(i, aWRID, f, mw, aRKey, info) }},
		{name: "wr_send_tso", flag: ibv.QPExWithTSO, data: "registered", args: []uint64{5, 0x8182}, bytes: []byte("heads"),
			begin: func(b *ibv.Batch, i int, f ibv.SendFlags) error {
				return b.SendTSO(i, aWRID, f, []byte("heads"), 0x8182)
			}},
	}
}

// batchData is a way to set data, and what C must see of it.
type batchData struct {
	name   string
	inline bool
	set    func(b *ibv.Batch, i int) error
	args   []uint64
	bytes  []byte
}

var batchDatas = []batchData{
	{name: "wr_set_sge", args: []uint64{aLKey, someAt, 0x81828384},
		set: func(b *ibv.Batch, i int) error {
			return b.SetSGE(i, ibv.SGE{Addr: someAt, Length: 0x81828384, LKey: aLKey})
		}},
	{name: "wr_set_sge_list", args: []uint64{2},
		bytes: words(uint64(someAt), uint32(0x81828384), uint32(aLKey), uint64(7), uint32(8), uint32(9)),
		set: func(b *ibv.Batch, i int) error {
			return b.SetSGEs(i, ibv.SGE{Addr: someAt, Length: 0x81828384, LKey: aLKey}, ibv.SGE{Addr: 7, Length: 8, LKey: 9})
		}},
	{name: "wr_set_sge_list", args: []uint64{0}, set: func(b *ibv.Batch, i int) error { return b.SetSGEs(i) }},
	{name: "wr_set_inline_data", inline: true, args: []uint64{6}, bytes: []byte("inline"),
		set: func(b *ibv.Batch, i int) error { return b.SetInline(i, []byte("inline")) }},
	{name: "wr_set_inline_data", inline: true, args: []uint64{0}, set: func(b *ibv.Batch, i int) error { return b.SetInline(i, nil) }},
	{name: "wr_set_inline_data_list", inline: true, args: []uint64{3}, bytes: []byte("in pieces"),
		set: func(b *ibv.Batch, i int) error { return b.SetInlineList(i, []byte("in "), nil, []byte("pieces")) }},
	{name: "wr_set_inline_data_list", inline: true, args: []uint64{0}, set: func(b *ibv.Batch, i int) error { return b.SetInlineList(i) }},
}

// Each operation with each kind of data, on each type of queue pair, is what C
// sees: every argument by value and place, and in order; and what does not belong
// together is an error when it is set.
func TestBatch(t *testing.T) {
	e := newExtended(t)
	ah := new(ibv.AH)
	receivers := []struct {
		kind ibv.QPType
		set  func(b *ibv.Batch, i int) error
		call *event
	}{
		{ibv.QPTRC, nil, nil},
		{ibv.QPTUD, func(b *ibv.Batch, i int) error { return b.SetUD(i, ah, 0x81a2a3, 0xb1a2a3a4) },
			&event{name: "wr_set_ud_addr", args: []uint64{addressOf(ah), 0x81a2a3, 0xb1a2a3a4}}},
		{ibv.QPTDriver, func(b *ibv.Batch, i int) error { return b.SetUD(i, ah, 0x81a2a3, 0xb1a2a3a4) },
			&event{name: "wr_set_ud_addr", args: []uint64{addressOf(ah), 0x81a2a3, 0xb1a2a3a4}}},
		{ibv.QPTXRCSend, func(b *ibv.Batch, i int) error { return b.SetXRC(i, 0x91a2a3a4) },
			&event{name: "wr_set_xrc_srqn", args: []uint64{0x91a2a3a4}}},
	}
	const flags = ibv.SendSignaled | ibv.SendFence
	for _, op := range batchOperations() {
		for _, receiver := range receivers {
			for _, data := range append(batchDatas, batchData{name: "none"}) {
				t.Run(fmt.Sprintf("%s/%v/%s%v", op.name, receiver.kind, data.name, data.args), func(t *testing.T) {
					e := &extended{scripted.Object{T: t, Library: e.Library, C: e.C}}
					b := newBatch(t, e.qp(0, receiver.kind, op.flag, true, nil), op.flag, 3, 3)
					// The one in the middle, to see that work requests do not mix.
					require.NoError(t, op.begin(b, 1, flags|ibv.SendInline))
					want := []event{{name: "wr_start"}, {name: op.name, wrID: aWRID, flags: flags, args: op.args, bytes: op.bytes}}
					if receiver.set != nil {
						err := receiver.set(b, 1)
						require.Equal(t, op.alone, err != nil, "%v", err)
						if op.alone {
							require.ErrorContains(t, err, "has no receiver")
							require.NoError(t, op.begin(b, 1, flags))
						} else {
							want = append(want, *receiver.call)
						}
					}
					if data.name != "none" {
						err := data.set(b, 1)
						if op.data == "none" || data.inline && op.data == "registered" {
							require.ErrorIs(t, err, syscall.EINVAL)
							require.ErrorContains(t, err, "does not take such data")
							_, again := b.PostRange(1, 2)
							require.ErrorIs(t, again, err)
							return
						}
						require.NoError(t, err)
						want = append(want, event{name: data.name, args: data.args, bytes: data.bytes})
						if data.inline {
							want[1].flags |= ibv.SendInline
						}
					}
					e.play(extendedScript{})
					accepted, err := b.PostRange(1, 2)
					if data.name == "none" && op.data != "none" {
						require.ErrorIs(t, err, syscall.EINVAL)
						require.ErrorContains(t, err, "work request 1 of the batch lacks its data: call SetSGE")
						require.Zero(t, accepted)
						require.Empty(t, e.events())
						return
					}
					require.NoError(t, err)
					require.Equal(t, 1, accepted)
					require.Equal(t, append(want, event{name: "wr_complete"}), e.events())
					_, err = b.Post()
					require.ErrorContains(t, err, "work request 0 of the batch lacks its operation")
				})
			}
		}
	}
}

// A table of the test's own says which operations there are: each flag has one.
func TestBatchHasEveryOperation(t *testing.T) {
	have := ibv.QPCreateSendOpsFlags(0)
	for _, op := range batchOperations() {
		have |= op.flag
	}
	require.Equal(t, everything, have)
	// All of those that the header names.
	for _, name := range strings.Split(ibv.QPCreateSendOpsFlags(math.MaxUint32).String(), "|") {
		require.True(t, strings.Contains(have.String(), name) || strings.HasPrefix(name, "0x"), name)
	}
}

// Nothing but what the batch was made for is called, and nothing else is read.
func TestBatchOfOtherOperations(t *testing.T) {
	e := newExtended(t)
	for _, op := range batchOperations() {
		others := everything &^ op.flag
		b := newBatch(t, e.qp(0, ibv.QPTRC, others, true, nil), others, 2, 1)
		err := op.begin(b, 1, 0)
		require.ErrorIs(t, err, syscall.EINVAL, op.name)
		require.ErrorContains(t, err, "set work request 1 of a batch")
		require.ErrorContains(t, err, op.flag.String())
		_, posted := b.PostRange(1, 2)
		require.ErrorIs(t, posted, err)
		_, err = ibv.NewBatch(e.qp(0, ibv.QPTRC, others, false, nil), everything, 2, 1)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "was created without "+op.flag.String())
	}
}

func TestBatchCannotBeMade(t *testing.T) {
	e := newExtended(t)
	qp := e.qp(0, ibv.QPTRC, everything, false, nil)
	for text, tt := range map[string]struct {
		qp        *ibv.QPEx
		ops       ibv.QPCreateSendOpsFlags
		n, maxSGE int
	}{
		"the queue pair is missing":       {nil, everything, 1, 1},
		"at least 1 work request":         {qp, everything, 0, 1},
		"room for 0 entries or more":      {qp, everything, 1, -1},
		"at most 1 GiB":                   {qp, everything, 1 << 30, 1},
		"no operation is named":           {qp, 0, 1, 1},
		"no operation is known for":       {qp, everything | 1<<20, 1, 1},
		"created without QPInitAttrSendO": {e.plain(1), everything, 1, 1},
	} {
		b, err := ibv.NewBatch(tt.qp, tt.ops, tt.n, tt.maxSGE)
		require.ErrorContains(t, err, text)
		require.Nil(t, b)
	}
}

// plain is a queue pair that is extended and has no functions, as providers make it
// without send_ops_flags.
func (e *extended) plain(i int) *ibv.QPEx {
	qp := e.qp(i, ibv.QPTRC, 0, false, nil)
	qp.WRStart, qp.WRComplete, qp.WRAbort = 0, 0, 0
	return qp
}

// aRegion is one that is kept, for bindings have it as a number, and look at it.
var aRegion = new(ibv.MR)

// bindMW has work request 1 bind a window whose key is 0x1200.
func bindMW(typ ibv.MWType, rkey uint32) func(*ibv.Batch) error {
	return func(b *ibv.Batch) error {
		return b.BindMW(1, 0, 0, &ibv.MW{Type: typ, RKey: 0x1200}, rkey, &ibv.MWBindInfo{MR: ibv.ToPtr(aRegion)})
	}
}

// What is not whole is not posted, and the error says what and where; once it is
// set right, it is posted.
func TestBatchIsCheckedAsItIsSet(t *testing.T) {
	e := newExtended(t)
	sge := ibv.SGE{Addr: 1, Length: 2, LKey: 3}
	for _, tt := range []struct {
		name string
		kind ibv.QPType
		set  func(b *ibv.Batch) error // on work request 1
		text string
		mend func(b *ibv.Batch) error
	}{
		{"too many entries", ibv.QPTRC, func(b *ibv.Batch) error { return b.SetSGEs(1, sge, sge, sge) },
			"3 scatter/gather entries are given, the batch has room for 2", func(b *ibv.Batch) error { return b.SetSGEs(1, sge, sge) }},
		{"too many pieces", ibv.QPTRC, func(b *ibv.Batch) error { return b.SetInlineList(1, nil, nil, nil) },
			"3 scatter/gather entries are given", func(b *ibv.Batch) error { return b.SetInlineList(1, nil, []byte{1}) }},
		{"UD on RC", ibv.QPTRC, func(b *ibv.Batch) error { return b.SetUD(1, new(ibv.AH), 1, 2) },
			"of type IBV_QPT_RC has no use for such a receiver", func(b *ibv.Batch) error { _ = b.Send(1, 0, 0); return b.SetSGE(1, sge) }},
		{"XRC on UD", ibv.QPTUD, func(b *ibv.Batch) error { return b.SetXRC(1, 1) },
			"of type IBV_QPT_UD has no use for such a receiver", func(b *ibv.Batch) error {
				_, _ = b.Send(1, 0, 0), b.SetSGE(1, sge)
				return b.SetUD(1, new(ibv.AH), 1, 2)
			}},
		{"no address handle", ibv.QPTUD, func(b *ibv.Batch) error { return b.SetUD(1, nil, 1, 2) },
			"a UD send needs an address handle", func(b *ibv.Batch) error { return b.SetUD(1, new(ibv.AH), 1, 2) }},
		{"no remote address to patch", ibv.QPTRC, func(b *ibv.Batch) error { return b.SetRemote(1, 1, 2) },
			"a send has none", func(b *ibv.Batch) error { _ = b.Send(1, 0, 0); return b.SetSGE(1, sge) }},
		{"no immediate data to patch", ibv.QPTRC, func(b *ibv.Batch) error { return b.SetImm(1, 1) },
			"a send has none", func(b *ibv.Batch) error { _ = b.Send(1, 0, 0); return b.SetSGE(1, sge) }},
		{"no window", ibv.QPTRC, func(b *ibv.Batch) error { return b.BindMW(1, 0, 0, nil, 1, nil) },
			"needs the window", func(b *ibv.Batch) error { return b.LocalInv(1, 0, 0, 1) }},
		{"no region", ibv.QPTRC, func(b *ibv.Batch) error { return b.BindMW(1, 0, 0, new(ibv.MW), 1, &ibv.MWBindInfo{}) },
			"and the region", func(b *ibv.Batch) error { return b.LocalInv(1, 0, 0, 1) }},
		{"window of type 1", ibv.QPTRC, bindMW(ibv.MWType1, 0x1201),
			"the window is of IBV_MW_TYPE_1", bindMW(ibv.MWType2, 0x1201)},
		{"another window's key", ibv.QPTRC, bindMW(ibv.MWType2, 0x1300),
			"rkey 0x1300 differs from the window's 0x1200", bindMW(ibv.MWType2, 0x12ff)},
		{"header too long", ibv.QPTRC, func(b *ibv.Batch) error { return b.SendTSO(1, 0, 0, make([]byte, 65536), 1) },
			"65536 bytes is longer than any", func(b *ibv.Batch) error { return b.LocalInv(1, 0, 0, 1) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := &extended{scripted.Object{T: t, Library: e.Library, C: e.C}}
			b := newBatch(t, e.qp(0, tt.kind, everything, false, nil), everything, 3, 2)
			for i := range 3 {
				require.NoError(t, b.Send(i, uint64(i), 0))
				require.NoError(t, b.SetSGE(i, sge))
				if tt.kind == ibv.QPTUD {
					require.NoError(t, b.SetUD(i, new(ibv.AH), 1, 2))
				}
			}
			require.NoError(t, b.Err())
			wrong := tt.set(b)
			require.ErrorIs(t, wrong, syscall.EINVAL)
			require.ErrorContains(t, wrong, "set work request 1 of a batch")
			require.ErrorContains(t, wrong, tt.text)
			e.play(extendedScript{})
			for range 2 {
				accepted, err := b.Post()
				require.Zero(t, accepted)
				require.ErrorIs(t, err, wrong)
				require.Equal(t, b.Err(), err)
			}
			_, err := b.PostRange(1, 3)
			require.ErrorIs(t, err, wrong)
			require.Empty(t, e.events(), "C must not be called")
			// The others can be posted, and all of them when it is mended.
			n, err := b.PostRange(2, 3)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.NoError(t, tt.mend(b))
			require.NoError(t, b.Err())
			n, err = b.Post()
			require.NoError(t, err)
			require.Equal(t, 3, n)
		})
	}
}

func TestBatchWithoutSuchWorkRequest(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 2, 0)
	e.play(extendedScript{})
	sets := map[string]func(i int) error{
		"data":    func(i int) error { return b.SetSGE(i, ibv.SGE{}) },
		"list":    func(i int) error { return b.SetSGEs(i) },
		"inline":  func(i int) error { return b.SetInline(i, []byte{1}) },
		"address": func(i int) error { return b.SetUD(i, new(ibv.AH), 1, 2) },
		"xrc":     func(i int) error { return b.SetXRC(i, 2) },
		"number":  func(i int) error { return b.SetWRID(i, 2) },
		"flags":   func(i int) error { return b.SetFlags(i, 2) },
		"no ah":   func(i int) error { return b.SetUD(i, nil, 2, 2) },
	}
	for _, op := range batchOperations() {
		sets[op.name] = func(i int) error { return op.begin(b, i, 0) }
	}
	for name, set := range sets {
		for _, i := range []int{-1, 2, math.MaxInt, math.MinInt} {
			b.Reset()
			for k := range 2 {
				require.NoError(t, b.LocalInv(k, 0, 0, 1))
			}
			wrong := set(i)
			require.ErrorIs(t, wrong, syscall.EINVAL, name)
			require.ErrorContains(t, wrong, fmt.Sprintf("set work request %d of a batch", i))
			require.ErrorContains(t, wrong, "the batch has 2", name)
			require.NoError(t, b.Err(), "those that there are can be posted: %s", name)
			require.Empty(t, e.events())
		}
	}
	// Before it is begun, there is nothing to set.
	for _, name := range []string{"data", "list", "inline", "number", "flags"} {
		b.Reset()
		require.ErrorContains(t, sets[name](1), "it lacks its operation", name)
	}
	b.Reset()
	for k := range 2 {
		require.NoError(t, b.LocalInv(k, 0, 0, 1))
	}
	_, err := b.Post()
	require.NoError(t, err)
}

// What nobody has made has no work requests.
func TestBatchZero(t *testing.T) {
	var b ibv.Batch
	n, err := b.Post()
	require.NoError(t, err)
	require.Zero(t, n)
	require.NoError(t, b.Err())
	require.ErrorContains(t, b.Send(0, 1, 2), "the batch has 0")
	require.ErrorContains(t, b.SetSGE(0, ibv.SGE{}), "the batch has 0")
	require.ErrorContains(t, b.SetUD(0, new(ibv.AH), 1, 2), "the batch has 0")
	_, err = b.Post()
	require.NoError(t, err)
}

func TestBatchLacksReceiver(t *testing.T) {
	e := newExtended(t)
	for kind, text := range map[ibv.QPType]string{ibv.QPTUD: "lacks its receiver: call SetUD", ibv.QPTXRCSend: "lacks its shared receive queue: call SetXRC"} {
		b := newBatch(t, e.qp(0, kind, everything, false, nil), everything, 1, 1)
		require.NoError(t, b.Send(0, 1, 0))
		require.NoError(t, b.SetInline(0, nil))
		_, err := b.Post()
		require.ErrorContains(t, err, text)
	}
	// A provider that has no such function.
	qp := e.qp(0, ibv.QPTUD, everything, false, nil)
	qp.WRSetUDAddr, qp.WRSetInlineData = 0, 0
	b := newBatch(t, qp, everything, 1, 1)
	require.NoError(t, b.Send(0, 1, 0))
	require.ErrorIs(t, b.SetUD(0, new(ibv.AH), 1, 2), syscall.EOPNOTSUPP)
	require.ErrorIs(t, b.SetInline(0, nil), syscall.EOPNOTSUPP)
}

// What was mended is not complained of, and does not hide what is missing.
func TestBatchSaysWhatIsStillMissing(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTUD, everything, false, nil), everything, 1, 1)
	require.NoError(t, b.Send(0, 1, 0))
	require.Error(t, b.SetUD(0, nil, 1, 2))
	require.ErrorContains(t, b.SetSGEs(0, ibv.SGE{}, ibv.SGE{}), "2 scatter/gather entries")
	require.NoError(t, b.SetInline(0, nil))
	require.ErrorContains(t, b.Err(), "needs an address handle")
	require.NoError(t, b.Send(0, 1, 0))
	require.ErrorContains(t, b.Err(), "lacks its data")
	require.Error(t, b.SetUD(0, nil, 1, 2))
	require.NoError(t, b.SetUD(0, new(ibv.AH), 1, 2))
	require.ErrorContains(t, b.Err(), "lacks its data")
	require.NoError(t, b.SetInline(0, nil))
	require.NoError(t, b.Err())
}

// Batches are posted in part, again, and patched in between.
func TestBatchPatchedInPlace(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 3, 1)
	require.Equal(t, 3, b.Len())
	for i := range 3 {
		require.NoError(t, b.RDMAWriteImm(i, uint64(10+i), 0, uint64(20+i), uint32(30+i), ibv.BE32(40+i)))
		require.NoError(t, b.SetSGE(i, ibv.SGE{Addr: uint64(50 + i), Length: uint32(60 + i), LKey: uint32(70 + i)}))
	}
	want := func(i uint64) []event {
		return []event{
			{name: "wr_rdma_write_imm", wrID: 10 + i, args: []uint64{30 + i, 20 + i, 40 + i}},
			{name: "wr_set_sge", args: []uint64{70 + i, 50 + i, 60 + i}},
		}
	}
	post := func(first, end int, inside ...event) {
		t.Helper()
		e.play(extendedScript{errno: syscall.EIO})
		n, err := b.PostRange(first, end)
		require.NoError(t, err)
		require.Equal(t, end-first, n)
		require.Equal(t, append(append([]event{{name: "wr_start"}}, inside...), event{name: "wr_complete"}), e.events())
	}
	post(0, 3, append(append(want(0), want(1)...), want(2)...)...)
	post(1, 2, want(1)...)
	post(1, 3, append(want(1), want(2)...)...)
	require.NoError(t, b.SetWRID(1, 11111))
	require.NoError(t, b.SetFlags(1, ibv.SendSolicited|ibv.SendInline))
	require.NoError(t, b.SetRemote(1, 22222, 33333))
	require.NoError(t, b.SetImm(1, 44444))
	patched := event{name: "wr_rdma_write_imm", wrID: 11111, flags: ibv.SendSolicited, args: []uint64{33333, 22222, 44444}}
	post(1, 2, patched, want(1)[1])
	require.NoError(t, b.SetInline(1, []byte{1, 2}))
	patched.flags |= ibv.SendInline
	post(1, 2, patched, event{name: "wr_set_inline_data", args: []uint64{2}, bytes: []byte{1, 2}})
	require.NoError(t, b.SetFlags(1, ibv.SendFence))
	patched.flags = ibv.SendFence | ibv.SendInline
	post(1, 2, patched, event{name: "wr_set_inline_data", args: []uint64{2}, bytes: []byte{1, 2}})
	require.NoError(t, b.SetSGEs(1, ibv.SGE{Addr: 1, Length: 2, LKey: 3}))
	patched.flags = ibv.SendFence
	post(1, 2, patched, event{name: "wr_set_sge_list", args: []uint64{1}, bytes: words(uint64(1), uint32(2), uint32(3))})
	// Begun anew, it forgets.
	require.NoError(t, b.SendImm(1, 7, 0, 8))
	_, err := b.Post()
	require.ErrorContains(t, err, "work request 1 of the batch lacks its data")
	require.NoError(t, b.SetImm(1, 9))
	require.NoError(t, b.SetSGE(1, ibv.SGE{}))
	post(1, 2, event{name: "wr_send_imm", wrID: 7, args: []uint64{9}}, event{name: "wr_set_sge", args: []uint64{0, 0, 0}})

	e.play(extendedScript{})
	n, err := b.PostRange(2, 2)
	require.NoError(t, err)
	require.Zero(t, n)
	for _, r := range [][2]int{{-1, 1}, {2, 1}, {0, 4}, {math.MinInt, math.MaxInt}} {
		_, err := b.PostRange(r[0], r[1])
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "the batch has 0 to 3")
	}
	require.Empty(t, e.events())
	b.Reset()
	require.ErrorContains(t, b.Err(), "work request 0 of the batch lacks its operation")
	require.Equal(t, "batch of 3 work requests, 0 of them set, with at most 1 scatter/gather entries each", b.String())
	require.NoError(t, b.LocalInv(1, 0, 0, 1))
	require.Contains(t, b.String(), "1 of them set")
	require.Equal(t, "<nil>", (*ibv.Batch)(nil).String())
}

// wr_complete fails in all the ways that providers know, and nothing is posted.
func TestBatchIsRefused(t *testing.T) {
	e := newExtended(t)
	qp := e.qp(0, ibv.QPTRC, everything, false, nil)
	b := newBatch(t, qp, everything, 2, 1)
	for i := range 2 {
		require.NoError(t, b.LocalInv(i, 0, 0, 1))
	}
	for _, tt := range []struct {
		result int32
		errno  syscall.Errno
		want   syscall.Errno
	}{
		{int32(syscall.ENOMEM), syscall.EIO, syscall.ENOMEM},
		{int32(syscall.ENOSPC), 0, syscall.ENOSPC},
		{-int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
		{-1, syscall.ENOMEM, syscall.ENOMEM},
		{-1, 0, syscall.EIO},
		{math.MinInt32, 0, 1 << 31},
		{10000, 0, 10000},
	} {
		for state := ibv.QPSReset; state <= ibv.QPSErr; state++ {
			qp.QPBase.State = state
			e.play(extendedScript{result: tt.result, errno: tt.errno})
			accepted, err := b.Post()
			var refused *ibv.PostError
			require.ErrorAs(t, err, &refused)
			require.ErrorIs(t, err, tt.want)
			require.ErrorContains(t, err, "ibv: post batch: ")
			require.Equal(t, tt.result, refused.Result)
			early := state < ibv.QPSRTS
			require.Equal(t, early, refused.AcceptedUnknown)
			require.Equal(t, map[bool]int{false: 0, true: -1}[early], accepted)
			require.Equal(t, []string{"wr_start", "wr_local_inv", "wr_local_inv", "wr_complete"}, e.names())
			_, again := b.PostRange(0, 1)
			if tt.result != 10000 && tt.result != math.MinInt32 {
				require.Same(t, err, again)
			}
		}
	}
}

// What a batch sends inline is alive as long as the batch is, and is read when it
// is posted.
func TestBatchKeepsInlineData(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTUD, everything, false, nil), everything, 2, 3)
	ah := new(ibv.AH)
	data := []byte("changed")
	pieces := func(text string) (made [][]byte) {
		for _, piece := range strings.SplitAfter(text, " ") {
			made = append(made, []byte(strings.Clone(piece)))
		}
		return made
	}
	for range 100 {
		require.NoError(t, b.SendTSO(0, 0, 0, []byte(strings.Clone("the header")), 1))
		require.NoError(t, b.SetSGE(0, ibv.SGE{}))
		require.NoError(t, b.Send(1, 0, 0))
		require.NoError(t, b.SetInlineList(1, pieces("nobody else keeps")...))
		for i := range 2 {
			require.NoError(t, b.SetUD(i, ah, 1, 2))
		}
		runtime.GC()
		var litter [][]byte
		for range 1000 {
			litter = append(litter, slices.Repeat([]byte{0xaa}, 1+len(litter)%32))
		}
		e.play(extendedScript{})
		_, err := b.Post()
		require.NoError(t, err)
		events := e.events()
		require.Equal(t, "the header", string(events[1].bytes))
		require.Equal(t, "nobody else keeps", string(events[6].bytes))
		runtime.KeepAlive(litter)
	}
	require.NoError(t, b.SetInline(1, data))
	copy(data, "CHANGED")
	e.play(extendedScript{})
	_, err := b.PostRange(1, 2)
	require.NoError(t, err)
	require.Equal(t, "CHANGED", string(e.events()[3].bytes))
}

// What is known to be wrong in old releases of Soft-RoCE is not asked of them.
func TestBatchOnOldSoftRoCE(t *testing.T) {
	unequal := []ibv.SGE{{Length: 1}, {Length: 2}}
	for file, old := range map[string]bool{
		"librxe-rdmav34.so": true, "librxe-rdmav59.so": true, "librxe-rdmavx.so": false, "librxe-rdmav64.so": false, "librxe.so": false, "libsiw-rdmav34.so": false,
	} {
		t.Run(file, func(t *testing.T) {
			e := newExtendedOf(t, file)
			e.play(extendedScript{})
			b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 1, 3)
			require.NoError(t, b.Send(0, 1, 0))
			for _, err := range []error{b.SetSGEs(0, unequal...), b.SetInlineList(0, nil, nil), b.SetInlineList(0)} {
				if !old {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, syscall.EOPNOTSUPP)
				require.ErrorContains(t, err, "64.0")
				_, posted := b.Post()
				require.Error(t, posted)
			}
			require.NoError(t, b.SetSGEs(0, unequal[0], unequal[0]))
			require.NoError(t, b.SetSGEs(0))
			require.NoError(t, b.SetInlineList(0, []byte("one")))
			_, err := b.Post()
			require.NoError(t, err)
			require.Equal(t, map[bool]string{true: "wr_set_inline_data", false: "wr_set_inline_data_list"}[old], e.events()[2].name)
		})
	}
}

func TestNoAllocationsForBatches(t *testing.T) {
	e := newExtended(t)
	if !ccall.Direct() {
		t.Skip("without the direct call, a call costs memory: GOVERBS_CCALL=portable, or no assembly for this processor")
	}
	b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 4, 2)
	data, header := []byte("data"), []byte("header")
	info, mw := &ibv.MWBindInfo{MR: ibv.ToPtr(aRegion)}, &ibv.MW{Type: ibv.MWType2}
	set := func() {
		err := b.RDMAWrite(0, 1, 2, 3, 4)
		err = cmpErr(err, b.SetSGEs(0, ibv.SGE{Addr: 1}, ibv.SGE{Addr: 2}))
		err = cmpErr(err, b.SendTSO(1, 1, 2, header, 4))
		err = cmpErr(err, b.SetSGE(1, ibv.SGE{Addr: 1}))
		err = cmpErr(err, b.BindMW(2, 1, 2, mw, 3, info))
		err = cmpErr(err, b.Send(3, 1, 2))
		err = cmpErr(err, b.SetInlineList(3, data, data))
		err = cmpErr(err, b.SetInline(3, data))
		err = cmpErr(err, b.AtomicWrite(2, 1, 2, 3, 4, 5))
		err = cmpErr(err, b.SetRemote(0, 5, 6))
		if err != nil {
			t.Fatal(err)
		}
	}
	e.Call("extended_script", 0, 0, 0, 0, 1)
	set()
	require.Zero(t, testing.AllocsPerRun(100, set))
	// Without the data of a loop to move, nothing is carried out.
	for i := range 4 {
		require.NoError(t, b.LocalInv(i, 1, 0, 2))
	}
	for _, result := range []syscall.Errno{0, syscall.ENOMEM, syscall.ENOSPC} {
		e.play(extendedScript{result: int32(result), loop: true})
		var n int
		var err error
		require.Zero(t, testing.AllocsPerRun(100, func() { n, err = b.Post() }))
		if result == 0 {
			require.NoError(t, err)
			require.Equal(t, 4, n)
		} else {
			require.ErrorIs(t, err, result)
		}
	}
}

func cmpErr(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// A queue pair that is as it was made has no batch, and the error says why.
func TestQueuePairAsExtended(t *testing.T) {
	e := newExtended(t)
	qp := e.qp(0, ibv.QPTRC, everything, false, nil)
	require.Equal(t, "extended queue pair 0x100 (IBV_QPT_RC, in IBV_QPS_RTS)", qp.String())
	require.Equal(t, "<nil>", (*ibv.QPEx)(nil).String())
	require.Equal(t, uintptr(0), unsafe.Offsetof(qp.QPBase))
}

// A window and the region that it is bound to are of one protection domain.
func TestBatchBindsWithinADomain(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 1, 0)
	mr := &ibv.MR{PD: new(ibv.PD)}
	defer runtime.KeepAlive(mr)
	info := &ibv.MWBindInfo{MR: ibv.ToPtr(mr)}
	err := b.BindMW(0, 1, 0, &ibv.MW{Type: ibv.MWType2, PD: new(ibv.PD)}, 1, info)
	require.ErrorIs(t, err, syscall.EPERM)
	require.ErrorContains(t, err, "different protection domains")
	require.ErrorIs(t, b.Err(), err)
}
