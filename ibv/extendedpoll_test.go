//go:build !freebsd

package ibv_test

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/scripted"
)

// allFlags is all that a completion queue can be created with.
const allFlags = ibv.WCExWithByteLen | ibv.WCExWithImm | ibv.WCExWithQPNum | ibv.WCExWithSrcQP | ibv.WCExWithSLID |
	ibv.WCExWithSL | ibv.WCExWithDLIDPathBits | ibv.WCExWithCompletionTimestamp | ibv.WCExWithCVLAN | ibv.WCExWithFlowTag |
	ibv.WCExWithTMInfo | ibv.WCExWithCompletionTimestampWallclock

const allFields = ibv.WCFields(allFlags) | ibv.WCFieldOpcode | ibv.WCFieldWCFlags

// wcField is a field, the call that reads it, and the value that completion k has
// there in testdata/extended.c.
type wcField struct {
	field ibv.WCFields
	call  string
	is    func(wc *ibv.ExtendedWC) any
	want  func(k uint64) any
}

var wcFields = []wcField{
	{ibv.WCFieldTMInfo, "read_tm_info", func(wc *ibv.ExtendedWC) any { return wc.TMInfo() }, func(k uint64) any {
		return ibv.WCTMInfo{Tag: 0x8b00000000000000 + k, Priv: uint32(0x8c000000 + k)}
	}},
	{ibv.WCFieldOpcode, "read_opcode", func(wc *ibv.ExtendedWC) any { return wc.Opcode() }, func(uint64) any { return ibv.WCRecvRDMAWithImm }},
	{ibv.WCFieldWCFlags, "read_wc_flags", func(wc *ibv.ExtendedWC) any { return wc.WCFlags() }, func(uint64) any { return ibv.WCGRH | ibv.WCWithImm }},
	{ibv.WCFieldByteLen, "read_byte_len", func(wc *ibv.ExtendedWC) any { return wc.ByteLen() }, func(k uint64) any { return uint32(0x82000000 + k) }},
	{ibv.WCFieldImm, "read_imm", func(wc *ibv.ExtendedWC) any { return wc.ImmData() }, func(k uint64) any { return ibv.ToBE32(uint32(0x83000000 + k)) }},
	{ibv.WCFieldQPNum, "read_qp_num", func(wc *ibv.ExtendedWC) any { return wc.QPNum() }, func(k uint64) any { return uint32(0x840000 + k) }},
	{ibv.WCFieldSrcQP, "read_src_qp", func(wc *ibv.ExtendedWC) any { return wc.SrcQP() }, func(k uint64) any { return uint32(0x850000 + k) }},
	{ibv.WCFieldSLID, "read_slid", func(wc *ibv.ExtendedWC) any { return wc.SLID() }, func(k uint64) any { return uint32(0x86000000 + k) }},
	{ibv.WCFieldSL, "read_sl", func(wc *ibv.ExtendedWC) any { return wc.SL() }, func(k uint64) any { return uint8(0x80 + k) }},
	{ibv.WCFieldDLIDPathBits, "read_dlid_path_bits", func(wc *ibv.ExtendedWC) any { return wc.DLIDPathBits() }, func(k uint64) any { return uint8(0x90 + k) }},
	{ibv.WCFieldCompletionTS, "read_ts", func(wc *ibv.ExtendedWC) any { return wc.CompletionTS() }, func(k uint64) any { return 0x8700000000000000 + k }},
	{ibv.WCFieldWallclock, "read_wallclock", func(wc *ibv.ExtendedWC) any { return wc.Wallclock() }, func(k uint64) any { return time.Unix(0, int64(0x1800000000000000+k)) }},
	{ibv.WCFieldCVLAN, "read_cvlan", func(wc *ibv.ExtendedWC) any { return wc.CVLAN() }, func(k uint64) any { return uint16(0x8900 + k) }},
	{ibv.WCFieldFlowTag, "read_flow_tag", func(wc *ibv.ExtendedWC) any { return wc.FlowTag() }, func(k uint64) any { return uint32(0x8a000000 + k) }},
}

func newExtendedPoll(t testing.TB, cq *ibv.CQEx, fields ibv.WCFields) *ibv.ExtendedPoll {
	t.Helper()
	p, err := ibv.NewExtendedPoll(cq, fields)
	require.NoError(t, err)
	return p
}

// Each field alone, all of them, and none: read once for each completion, in one
// batch of C's, as wide as C has it, whatever C leaves beyond that; and nothing else
// is read, nor written behind the last completion.
func TestExtendedPoll(t *testing.T) {
	e := newExtended(t)
	sets := []ibv.WCFields{0, allFields}
	for _, f := range wcFields {
		sets = append(sets, f.field, allFields&^f.field)
	}
	for _, fields := range sets {
		for _, tt := range []struct{ room, there int }{{4, 0}, {4, 3}, {4, 4}, {3, 4}, {1, 2}} {
			t.Run(fmt.Sprintf("%#x/%d of %d", uint32(fields), tt.room, tt.there), func(t *testing.T) {
				e := &extended{scripted.Object{T: t, Library: e.Library, C: e.C}}
				created := ibv.CreateCQWCFlags(fields &^ (ibv.WCFieldOpcode | ibv.WCFieldWCFlags))
				p := newExtendedPoll(t, e.cq(0, created, false), fields)
				e.Call("extended_give", 0, uintptr(tt.there), 5, 0)
				e.play(extendedScript{errno: syscall.EIO})
				wcs := make([]ibv.ExtendedWC, tt.room+1)
				n, err := p.Poll(wcs[:tt.room])
				require.NoError(t, err)
				require.Equal(t, min(tt.room, tt.there), n)
				want := []string{"start_poll"}
				for i := range wcs {
					wc := &wcs[i]
					if i >= n {
						require.Equal(t, ibv.ExtendedWC{}, *wc)
						continue
					}
					k := uint64(5 + i)
					require.Equal(t, 0x1122334455667700+k, wc.WRID)
					require.NoError(t, wc.Err())
					if i > 0 {
						want = append(want, "next_poll")
					}
					for _, f := range wcFields {
						if fields&f.field == 0 {
							continue
						}
						want = append(want, f.call)
						require.Equal(t, f.want(k), f.is(wc), f.call)
					}
					if fields&ibv.WCFieldImm != 0 {
						require.Equal(t, uint32(wc.ImmData()), wc.InvalidatedRKey())
					}
				}
				if n > 0 {
					if tt.there < tt.room {
						want = append(want, "next_poll")
					}
					want = append(want, "end_poll")
				}
				require.Equal(t, readsSorted(want), readsSorted(e.names()))
				require.EqualValues(t, tt.there-n, e.Call("extended_cq_left", 0))
			})
		}
	}
}

// readsSorted is calls with those that read a completion in the order of their names:
// it depends on the processor.
func readsSorted(calls []string) []string {
	isRead := func(name string) bool { return strings.HasPrefix(name, "read_") }
	sorted := slices.Clone(calls)
	for rest := sorted; len(rest) > 0; {
		n := slices.IndexFunc(rest, func(name string) bool { return !isRead(name) })
		if n < 0 {
			n = len(rest)
		}
		slices.Sort(rest[:n])
		rest = rest[min(n+1, len(rest)):]
	}
	return sorted
}

// Of a completion that failed, only what means something is read.
func TestExtendedPollOfFailures(t *testing.T) {
	e := newExtended(t)
	p := newExtendedPoll(t, e.cq(0, allFlags, false), allFields)
	e.Call("extended_give", 0, 3, 0, 1) // the last one fails
	e.play(extendedScript{})
	wcs := make([]ibv.ExtendedWC, 3)
	n, err := p.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 3, n)
	require.NoError(t, wcs[1].Err())
	require.Equal(t, &ibv.CompletionError{WRID: 0x1122334455667702, Status: ibv.WCRNRRetryExcErr, VendorErr: 0x81000002, QPNum: 0x840002}, wcs[2].Err())
	require.Zero(t, wcs[2].Opcode())
	names := e.names()
	require.Equal(t, []string{"next_poll", "read_qp_num", "read_vendor_err", "end_poll"}, readsSorted(names)[len(names)-4:])
	require.Equal(t, "completion of work request with WRID 0x1122334455667702: IBV_WC_RNR_RETRY_EXC_ERR (vendor error 0x81000002)", wcs[2].String())
	require.Equal(t, "completion of work request with WRID 0x1122334455667700: IBV_WC_SUCCESS", wcs[0].String())
	require.Equal(t, "<nil>", (*ibv.ExtendedWC)(nil).String())
}

// An error names no queue pair where the queue does not have it, whatever else was read into the
// same memory, and C left beside it.
func TestExtendedPollOfFailuresWithoutQueuePair(t *testing.T) {
	e := newExtended(t)
	p := newExtendedPoll(t, e.cq(0, allFlags&^ibv.WCExWithQPNum, false), allFields&^ibv.WCFieldQPNum)
	wcs := make([]ibv.ExtendedWC, 1)
	for first := range uintptr(3) { // the last one fails
		e.Call("extended_give", 0, 1, first, 1)
		e.play(extendedScript{})
		n, err := p.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 1, n)
	}
	require.Equal(t, &ibv.CompletionError{WRID: 0x1122334455667702, Status: ibv.WCRNRRetryExcErr, VendorErr: 0x81000002}, wcs[0].Err())
}

// What was not asked for at creation cannot be read, and the error names it.
func TestExtendedPollWithoutFields(t *testing.T) {
	e := newExtended(t)
	for _, f := range wcFields {
		if f.field&(ibv.WCFieldOpcode|ibv.WCFieldWCFlags) != 0 {
			continue // always there
		}
		_, err := ibv.NewExtendedPoll(e.cq(0, allFlags&^ibv.CreateCQWCFlags(f.field), false), allFields)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "prepare an extended poll on extended0")
		require.ErrorContains(t, err, "created without "+f.field.String())
	}
	cq := e.cq(0, allFlags, false)
	_, err := ibv.NewExtendedPoll(cq, allFields|1<<20)
	require.ErrorContains(t, err, "no field is known for")
	cq.EndPoll = 0
	_, err = ibv.NewExtendedPoll(cq, allFields)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	_, err = ibv.NewExtendedPoll(nil, allFields)
	require.ErrorContains(t, err, "missing")
	require.Equal(t, "opcode|wc_flags|IBV_WC_EX_WITH_BYTE_LEN", (ibv.WCFieldOpcode | ibv.WCFieldWCFlags | ibv.WCFieldByteLen).String())
	require.Equal(t, "0", ibv.WCFields(0).String())
}

// start_poll and next_poll end a poll in all the ways they have; the lock is
// released, and what was taken is there.
func TestExtendedPollFails(t *testing.T) {
	e := newExtended(t)
	for _, tt := range []struct {
		result int32
		errno  syscall.Errno
		want   error
		hint   string
	}{
		{int32(syscall.ENOENT), 0, nil, ""},
		{-int32(syscall.ENOENT), syscall.EIO, nil, ""},
		{-1, syscall.ENOENT, nil, ""},
		{int32(syscall.EBUSY), 0, syscall.EBUSY, "try again"},
		{int32(syscall.EINVAL), 0, syscall.EINVAL, "overran"},
		{-int32(syscall.EIO), 0, syscall.EIO, "overran"},
		{-1, syscall.ENOMEM, syscall.ENOMEM, "overran"},
		{-1, 0, syscall.EIO, "overran"},
	} {
		for _, atStart := range []bool{true, false} {
			p := newExtendedPoll(t, e.cq(0, allFlags, false), ibv.WCFieldByteLen)
			e.Call("extended_give", 0, 4, 0, 0)
			wcs := make([]ibv.ExtendedWC, 3)
			s, names, got := extendedScript{errno: tt.errno}, []string{"start_poll"}, 0
			if atStart {
				s.startResult = tt.result
			} else {
				s.nextResult = tt.result
				names, got = []string{"start_poll", "read_byte_len", "next_poll", "end_poll"}, 1
			}
			e.play(s)
			n, err := p.Poll(wcs)
			require.Equal(t, got, n)
			require.Equal(t, names, e.names())
			if tt.want == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, tt.want)
				require.ErrorContains(t, err, "poll extended completion queue on extended0")
				require.ErrorContains(t, err, tt.hint)
			}
			if got == 1 {
				require.EqualValues(t, 0x82000000, wcs[0].ByteLen())
			}
			e.play(extendedScript{})
			n, err = p.Poll(wcs)
			require.NoError(t, err)
			require.Equal(t, min(3, 4-got), n)
		}
	}
}

// The queue pair of a failure is read wherever the queue has it, asked for or not.
func TestExtendedPollNamesTheFailedQP(t *testing.T) {
	for _, fields := range []ibv.WCFields{0, ibv.WCFieldByteLen, allFields} {
		e := newExtended(t)
		p := newExtendedPoll(t, e.cq(0, allFlags, false), fields)
		e.Call("extended_give", 0, 3, 0, 1) // the last one fails
		e.play(extendedScript{})
		wcs := make([]ibv.ExtendedWC, 3)
		n, err := p.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 3, n)
		require.Error(t, wcs[2].Err())
		require.EqualValues(t, 0x840002, wcs[2].QPNum(), fields)
	}
}

// What nobody has made asks C for nothing.
func TestExtendedPollZero(t *testing.T) {
	var p ibv.ExtendedPoll
	n, err := p.Poll(make([]ibv.ExtendedWC, 1))
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "NewExtendedPoll")
	require.Zero(t, n)
	require.Equal(t, "extended poll of no completion queue", p.String())
}

func TestExtendedPollWithoutRoom(t *testing.T) {
	e := newExtended(t)
	p := newExtendedPoll(t, e.cq(0, allFlags, false), allFields)
	e.Call("extended_give", 0, 1, 0, 0)
	e.play(extendedScript{})
	for _, wcs := range [][]ibv.ExtendedWC{nil, {}} {
		n, err := p.Poll(wcs)
		require.NoError(t, err)
		require.Zero(t, n)
	}
	require.Empty(t, e.events())
	require.Equal(t, "extended poll of completion queue 32 for opcode|wc_flags|"+allFlags.String(), p.String())
	require.Equal(t, "<nil>", (*ibv.ExtendedPoll)(nil).String())
}

// More than one crossing is to take goes in pieces, and nothing is lost between
// them.
func TestExtendedPollOfMany(t *testing.T) {
	e := newExtended(t)
	p := newExtendedPoll(t, e.cq(0, allFlags, false), ibv.WCFieldByteLen)
	e.Call("extended_give", 0, 1000, 0, 0)
	e.play(extendedScript{})
	wcs := make([]ibv.ExtendedWC, 1500)
	n, err := p.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 1000, n)
	for k := range n {
		require.Equal(t, 0x1122334455667700+uint64(k), wcs[k].WRID)
		require.Equal(t, uint32(0x82000000+k), wcs[k].ByteLen())
	}
	names := e.names()
	require.Greater(t, len(slices.DeleteFunc(names, func(name string) bool { return name != "start_poll" })), 1)
	n, err = p.Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, n)
}

// Old releases of Soft-RoCE let go of the lock twice when a poll wants more than
// there is, so it must not come to that.
func TestExtendedPollOnOldSoftRoCE(t *testing.T) {
	for _, file := range []string{"librxe-rdmav34.so", "librxe-rdmav57.so"} {
		e := newExtendedOf(t, file)
		p := newExtendedPoll(t, e.cq(0, allFlags, true), ibv.WCFieldByteLen)
		for first := range uintptr(3) {
			e.Call("extended_give", 0, 3, first, 0)
			e.play(extendedScript{})
			wcs := make([]ibv.ExtendedWC, 4)
			n, err := p.Poll(wcs)
			require.NoError(t, err)
			require.Equal(t, 3, n)
			if file == "librxe-rdmav57.so" {
				one := []string{"start_poll", "read_byte_len", "end_poll"}
				require.Equal(t, append(slices.Repeat(one, 3), "start_poll"), e.names())
			}
			for k := range n {
				require.Equal(t, uint32(0x82000000+k+int(first)), wcs[k].ByteLen())
			}
			n, err = p.Poll(wcs[:2])
			require.NoError(t, err)
			require.Zero(t, n)
			require.Zero(t, e.Call("extended_locked"))
		}
		e.play(extendedScript{startResult: -1, errno: syscall.ENOMEM})
		_, err := p.Poll(make([]ibv.ExtendedWC, 4))
		require.ErrorIs(t, err, syscall.ENOMEM)
	}
}

func TestNoAllocationsForExtendedPolls(t *testing.T) {
	e := newExtended(t)
	if !ccall.Direct() {
		t.Skip("without the direct call, a call costs memory: GOVERBS_CCALL=portable, or no assembly for this processor")
	}
	p := newExtendedPoll(t, e.cq(0, allFlags, false), allFields)
	wcs := make([]ibv.ExtendedWC, 8)
	e.play(extendedScript{loop: true})
	e.Call("extended_give", 0, 1000, 0, 0)
	var n int
	var err error
	require.Zero(t, testing.AllocsPerRun(100, func() { n, err = p.Poll(wcs) }))
	require.NoError(t, err)
	require.Equal(t, 8, n)
	e.cq(0, allFlags, false)
	require.Zero(t, testing.AllocsPerRun(100, func() { n, err = p.Poll(wcs) }))
	require.NoError(t, err)
	require.Zero(t, n)
}
