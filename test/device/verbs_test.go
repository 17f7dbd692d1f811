//go:build device && linux

package device

import (
	"errors"
	"net"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// olderThan is how an error names the release that has what the library lacks.
var olderThan = regexp.MustCompile(`which is older than rdma-core (\d+)\.`)

// missing reports whether an error says that the library is too old, which has to
// be true.
func missing(t *testing.T, err error) bool {
	t.Helper()
	if err == nil {
		return false
	}
	found := olderThan.FindStringSubmatch(err.Error())
	if found == nil {
		return false
	}
	since, convErr := strconv.Atoi(found[1])
	require.NoError(t, convErr)
	require.Less(t, guest.Release(t), since, "%v", err)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	return true
}

// requireUnsupported requires that a verb is not to be had: rxe's provider does not
// have it, nor may the library.
func requireUnsupported(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	missing(t, err)
}

func TestQueryDeviceEx(t *testing.T) {
	r := newRig(t)
	old, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	attr, err := r.ctx.QueryDeviceEx()
	require.NoError(t, err)
	require.Equal(t, old, attr.OrigAttr)
	require.EqualValues(t, old.DeviceCapFlags, uint32(attr.DeviceCapFlagsEx))
	require.Zero(t, attr.MaxDMSize)
	require.Zero(t, attr.HCACoreClock)
	if guest.Release(t) >= 44 {
		require.EqualValues(t, 1, attr.PhysPortCntEx)
	}
}

func TestDeviceNumbers(t *testing.T) {
	r := newRig(t)
	attr, err := r.ctx.QueryDevice()
	require.NoError(t, err)
	guid, err := r.ctx.Device.GUID()
	require.NoError(t, err)
	require.Equal(t, attr.NodeGUID, guid)
	require.NotZero(t, guid)
	index, err := r.ctx.Device.Index()
	require.NoError(t, err)
	other, err := ibv.Devices()
	require.NoError(t, err)
	defer func() { require.NoError(t, other.Close()) }()
	for _, d := range other.All() {
		i, err := d.Index()
		require.NoError(t, err)
		require.Equal(t, d.String() == deviceName, i == index, "%v has %d", d, i)
	}
}

func TestPKeys(t *testing.T) {
	r := newRig(t)
	all := ibv.ToBE16(0xffff)
	pkey, err := r.ctx.QueryPKey(port, 0)
	require.NoError(t, err)
	require.Equal(t, all, pkey)
	index, err := r.ctx.PKeyIndex(port, all)
	require.NoError(t, err)
	require.Zero(t, index)
	attr, err := r.ctx.QueryPort(port)
	require.NoError(t, err)
	_, err = r.ctx.QueryPKey(port, uint32(attr.PKeyTblLen))
	require.ErrorContains(t, err, "entries from 0 to PortAttr.PKeyTblLen-1")
	_, err = r.ctx.PKeyIndex(port, ibv.ToBE16(0x1234))
	require.ErrorContains(t, err, "find P_Key 0x1234 of port 1 on rxe0: ")
	require.ErrorContains(t, err, "the port's table does not have it")
}

func TestGIDTable(t *testing.T) {
	r := newRig(t)
	attr, err := r.ctx.QueryPort(port)
	require.NoError(t, err)
	var want []ibv.GIDEntry
	for i := range uint32(attr.GIDTblLen) {
		if entry, err := r.ctx.QueryGIDEntry(port, i); err == nil {
			want = append(want, entry)
		}
	}
	require.NotEmpty(t, want)
	got, err := r.ctx.GIDs(port)
	require.NoError(t, err)
	require.Equal(t, want, got)
	entries := make([]ibv.GIDEntry, len(want)+3)
	n, err := r.ctx.QueryGIDTable(entries)
	require.NoError(t, err)
	require.Equal(t, want, entries[:n])
	_, err = r.ctx.QueryGIDTable(entries[:len(want)-1])
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "more entries than room")
}

// What rxe does not have says so, whether the library knows the verb or not.
func TestUnsupportedVerbs(t *testing.T) {
	r := newRig(t)
	mr := r.memory(1)
	qp := r.side(ibv.QPTRC, 1, 1, nil).QP
	errorOf := func(_ any, err error) error { return err }
	var ece ibv.ECE
	for name, call := range map[string]func() error{
		"port speed":    func() error { return errorOf(r.ctx.QueryPortSpeed(port)) },
		"thread domain": func() error { return errorOf(r.ctx.AllocTD(nil)) },
		"parent domain": func() error { return errorOf(r.ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: r.pd})) },
		"DMA-buf":       func() error { return errorOf(r.pd.RegDMABufMR(0, slot, 0, 0, access)) },
		"null region":   func() error { return errorOf(r.pd.AllocNullMR()) },
		"advice": func() error {
			return r.pd.AdviseMR(ibv.AdviseMRAdvicePrefetch, ibv.AdviseMRFlagFlush, []ibv.SGE{mr.SGE(0, slot)})
		},
		"device's memory":  func() error { return errorOf(r.ctx.AllocDM(&ibv.AllocDMAttr{Length: 64})) },
		"DMA handle":       func() error { return errorOf(r.ctx.AllocDMAH(&ibv.DMAHInitAttr{})) },
		"domain's import":  func() error { return errorOf(r.ctx.ImportPD(r.pd.Handle)) },
		"region's import":  func() error { return errorOf(r.pd.ImportMR(mr.Handle)) },
		"memory's import":  func() error { return errorOf(r.ctx.ImportDM(0)) },
		"clock":            func() error { return errorOf(r.ctx.QueryRTValues(ibv.ValuesMaskRawClock)) },
		"extensions":       func() error { return errorOf(qp.QueryECE()) },
		"set extensions":   func() error { return qp.SetECE(&ibv.ECE{VendorID: 1}) },
		"set no extension": func() error { return qp.SetECE(&ece) },
	} {
		t.Run(name, func(t *testing.T) { requireUnsupported(t, call()) })
	}
}

// The device counts from the address that it is told.
func TestRegMRIOVA(t *testing.T) {
	r := newRig(t)
	from := r.memory(1)
	buf, err := ibv.AllocBuffer(slot)
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Free()) }()
	const iova = 0x10000000
	mr, err := r.pd.RegMRIOVA(buf, iova, access)
	require.NoError(t, err)
	defer func() { require.NoError(t, mr.Close()) }()
	sender, _ := r.pair(4, 1)
	fill(bytesOf(from, 0)[:100], 7)
	r.write(sender, from, 100, iova+8, mr.RKey, ibv.WCSuccess)
	requireFilled(t, buf[8:], 100, 7, 0)
}

// write writes the first bytes of a region to a peer, and requires how that ends.
func (r *rig) write(from side, mr *ibv.MR, length int, remoteAddr uint64, rkey uint32, want ibv.WCStatus) {
	r.t.Helper()
	sends, err := ibv.NewSendChain(1, 1)
	require.NoError(r.t, err)
	require.NoError(r.t, sends.SetRDMA(0, 1, ibv.WRRDMAWrite, ibv.SendSignaled, mr.SGE(0, length), remoteAddr, rkey))
	_, err = sends.Post(from.QP)
	require.NoError(r.t, err)
	require.Equal(r.t, want, r.pollAny(from.send, 1)[0].Status)
}

// rxe cannot change a region, which is as it was then, whatever C's library says.
func TestRereg(t *testing.T) {
	r := newRig(t)
	buf, err := ibv.AllocBuffer(slot)
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Free()) }()
	mr, err := r.pd.RegMR(buf, access)
	require.NoError(t, err)
	defer func() { require.NoError(t, mr.Close()) }()
	for _, err := range []error{
		mr.Rereg(0x80, nil, nil, 0),
		mr.Rereg(ibv.ReregMRChangeAccess, nil, nil, ibv.AccessLocalWrite),
	} {
		var failed *ibv.ReregMRError
		require.ErrorAs(t, err, &failed)
		require.Equal(t, ibv.ReregMRErrInput, failed.Code)
	}
}

// Memory of the provider's choice is registered as a buffer, and by attributes.
func TestBuf(t *testing.T) {
	r := newRig(t)
	buf, memory, err := r.pd.AllocBuf(2 * slot)
	if missing(t, err) {
		return
	}
	require.NoError(t, err)
	require.Len(t, memory, 2*slot)
	defer func() { require.NoError(t, buf.Close()) }()
	wipe(memory, 0)
	_, err = buf.ExportDMABufFD()
	if !missing(t, err) {
		require.ErrorIs(t, err, syscall.ENODATA)
	}
	mr, err := r.pd.RegBufMR(buf, memory[slot:], access)
	require.NoError(t, err)
	defer func() { require.NoError(t, mr.Close()) }()
	require.Equal(t, &memory[slot], &mr.Bytes()[0])
	from := r.memory(1)
	sender, _ := r.pair(4, 1)
	fill(bytesOf(from, 0)[:100], 9)
	r.write(sender, from, 100, uint64(mr.Addr), mr.RKey, ibv.WCSuccess)
	requireFilled(t, memory[slot:], 100, 9, 0)
}

func TestRegMREx(t *testing.T) {
	r := newRig(t)
	buf, err := ibv.AllocBuffer(slot)
	require.NoError(t, err)
	defer func() { require.NoError(t, buf.Free()) }()
	mr, err := r.pd.RegMREx(&ibv.MRInitAttr{
		Length: slot, Access: access, CompMask: uint64(ibv.RegMRMaskAddr | ibv.RegMRMaskIOVA), Addr: addressOf(buf), IOVA: 0x20000000,
	})
	if guest.Release(t) < 64 { // before, only for providers with the operation
		requireUnsupported(t, err)
		return
	}
	require.NoError(t, err)
	defer func() { require.NoError(t, mr.Close()) }()
	from := r.memory(1)
	sender, _ := r.pair(4, 1)
	fill(bytesOf(from, 0)[:100], 11)
	r.write(sender, from, 100, 0x20000000, mr.RKey, ibv.WCSuccess)
	requireFilled(t, buf, 100, 11, 0)
}

// A window of type 1 opens a part of a region to peers, until it is closed.
func TestMemoryWindow1(t *testing.T) {
	r := newRig(t)
	from := r.memory(1)
	to := r.bindable()
	mw := r.allocMW(ibv.MWType1)
	if mw == nil {
		return
	}
	unbound := mw.RKey
	sender, receiver := r.pair(4, 1)
	bind := &ibv.MWBind{WRID: 5, SendFlags: ibv.SendSignaled, BindInfo: ibv.MWBindInfo{
		MR: ibv.ToPtr(to), Addr: uint64(to.Addr) + 100, Length: 50, MWAccessFlags: ibv.AccessRemoteWrite,
	}}
	require.NoError(t, receiver.BindMW(mw, bind))
	wc := r.poll(receiver.send, 1)[0]
	require.Equal(t, ibv.WCBindMW, wc.Opcode)
	require.EqualValues(t, 5, wc.WRID)
	require.NotEqual(t, unbound, mw.RKey)
	fill(bytesOf(from, 0)[:50], 3)
	r.write(sender, from, 50, uint64(to.Addr)+100, mw.RKey, ibv.WCSuccess)
	requireFilled(t, to.Bytes()[100:], 50, 3, 0)
	require.ErrorContains(t, to.Close(), "a memory window", "which is bound to it")
	r.write(sender, from, 50, uint64(to.Addr)+100, unbound, ibv.WCRemAccessErr)
	require.ErrorIs(t, receiver.BindMW(mw, new(ibv.MWBind)), syscall.EINVAL, "rxe's library would follow no region")
}

// A region without the right to bind windows to it says so when one is bound.
func TestMemoryWindowOnOtherRegion(t *testing.T) {
	r := newRig(t)
	to, mw := r.memory(1), r.allocMW(ibv.MWType1)
	if mw == nil {
		return
	}
	_, receiver := r.pair(4, 1)
	require.NoError(t, receiver.BindMW(mw, &ibv.MWBind{SendFlags: ibv.SendSignaled, BindInfo: ibv.MWBindInfo{
		MR: ibv.ToPtr(to), Addr: uint64(to.Addr), Length: 8, MWAccessFlags: ibv.AccessRemoteWrite,
	}}))
	err := r.pollAny(receiver.send, 1)[0].Err()
	if flushesOwnErrors(t) {
		require.ErrorContains(t, err, "IBV_WC_WR_FLUSH_ERR")
		return
	}
	require.ErrorContains(t, err, "IBV_WC_MW_BIND_ERR")
	require.ErrorContains(t, err, "AccessMWBind")
}

// One of type 2 is bound by a work request, with a key of the program's, and
// closed by another.
func TestMemoryWindow2(t *testing.T) {
	r := newRig(t)
	from := r.memory(1)
	to := r.bindable()
	mw := r.allocMW(ibv.MWType2)
	if mw == nil {
		return
	}
	sender, receiver := r.pair(4, 1)
	chain, err := ibv.NewSendChain(1, 0)
	require.NoError(t, err)
	rkey := ibv.IncRKey(mw.RKey)
	require.NoError(t, chain.Set(0, 5, ibv.WRBindMW, ibv.SendSignaled))
	*chain.WR(0).BindMW() = ibv.SendWRBindMW{MW: ibv.ToPtr(mw), RKey: rkey, BindInfo: ibv.MWBindInfo{
		MR: ibv.ToPtr(to), Addr: uint64(to.Addr), Length: slot, MWAccessFlags: ibv.AccessRemoteWrite,
	}}
	_, err = chain.Post(receiver.QP)
	require.NoError(t, err)
	require.Equal(t, ibv.WCBindMW, r.poll(receiver.send, 1)[0].Opcode)
	fill(bytesOf(from, 0)[:50], 4)
	r.write(sender, from, 50, uint64(to.Addr), rkey, ibv.WCSuccess)
	requireFilled(t, to.Bytes(), 50, 4, 0)

	require.NoError(t, chain.Set(0, 6, ibv.WRLocalInv, ibv.SendSignaled))
	chain.WR(0).SetInvalidateRKey(rkey)
	_, err = chain.Post(receiver.QP)
	require.NoError(t, err)
	require.Equal(t, ibv.WCLocalInv, r.poll(receiver.send, 1)[0].Opcode)
	r.write(sender, from, 50, uint64(to.Addr), rkey, ibv.WCRemAccessErr)
}

// allocMW allocates a memory window, or returns nil where rxe's provider is older than those.
func (r *rig) allocMW(typ ibv.MWType) *ibv.MW {
	r.t.Helper()
	mw, err := r.pd.AllocMW(typ)
	if guest.Release(r.t) < 39 && errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, mw.Close()) })
	return mw
}

// bindable is a region that windows can be bound to.
func (r *rig) bindable() *ibv.MR {
	r.t.Helper()
	buf, err := ibv.AllocBuffer(slot)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, buf.Free()) })
	mr, err := r.pd.RegMR(buf, access|ibv.AccessMWBind)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { require.NoError(r.t, mr.Close()) })
	return mr
}

func TestImportDevice(t *testing.T) {
	r := newRig(t)
	fd, err := unix.FcntlInt(uintptr(r.ctx.CmdFD), unix.F_DUPFD_CLOEXEC, 0)
	require.NoError(t, err)
	_, err = ibv.ImportDevice(fd)
	requireUnsupported(t, err)
	require.NoError(t, unix.Close(fd), "rxe's provider has not come as far as to close it")
	_, err = ibv.ImportDevice(-1)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestDataInOrder(t *testing.T) {
	r := newRig(t)
	qp := r.side(ibv.QPTRC, 1, 1, nil).QP
	for _, flags := range []ibv.QueryQPDataInOrderFlags{0, ibv.QueryQPDataInOrderReturnCaps} {
		caps, err := qp.QueryQPDataInOrder(ibv.WRRDMAWrite, flags)
		if missing(t, err) {
			continue
		}
		require.NoError(t, err)
		require.Zero(t, caps, "rxe promises nothing")
	}
}

// The guests' kernels copy registered memory when a process forks.
func TestFork(t *testing.T) {
	const role = "GOVERBS_TEST_FORK"
	if os.Getenv(role) == "" {
		cmd := emulated.Itself("-test.v", "-test.run=^TestFork$")
		cmd.Env = append(os.Environ(), role+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.Contains(t, string(out), "--- PASS: TestFork")
		return
	}
	require.NoError(t, ibv.ForkInit())
	status, err := ibv.IsForkInitialized()
	if !missing(t, err) {
		require.NoError(t, err)
		require.Equal(t, ibv.ForkUnneeded, status)
	}
	newRig(t).memory(1)
}

func TestRates(t *testing.T) {
	for rate, want := range map[ibv.Rate]struct{ mbps, mult int }{
		ibv.Rate2_5Gbps: {2500, 1}, ibv.Rate10Gbps: {10000, 4}, ibv.Rate40Gbps: {40000, 16}, ibv.Rate120Gbps: {120000, 48},
	} {
		mbps, err := rate.Mbps()
		require.NoError(t, err)
		require.Equal(t, want.mbps, mbps)
		mult, err := rate.Mult()
		require.NoError(t, err)
		require.Equal(t, want.mult, mult)
		again, err := ibv.RateOfMbps(int32(mbps))
		require.NoError(t, err)
		require.Equal(t, rate, again)
		again, err = ibv.RateOfMult(int32(mult))
		require.NoError(t, err)
		require.Equal(t, rate, again)
	}
	_, err := ibv.RateMax.Mbps()
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = ibv.RateMax.Mult()
	require.ErrorIs(t, err, syscall.EINVAL)
	none, err := ibv.RateOfMbps(17)
	require.NoError(t, err)
	require.Equal(t, ibv.RateMax, none)
}

func TestDescriptions(t *testing.T) {
	for want, got := range map[string]string{
		"success":                    ibv.WCSuccess.Description(),
		"remote access error":        ibv.WCRemAccessErr.Description(),
		"InfiniBand channel adapter": ibv.NodeCA.Description(),
		"active":                     ibv.PortActive.Description(),
		"port error":                 ibv.EventPortErr.Description(),
		"write":                      strings.ToLower(ibv.WRRDMAWrite.Description()), // releases differ
	} {
		require.Contains(t, got, want)
	}
}

// The device's own address is its network interface's.
func TestResolveEthL2(t *testing.T) {
	r := newRig(t)
	attr := &ibv.AHAttr{PortNum: port, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: r.gid.GID, SGIDIndex: uint8(r.gid.GIDIndex)}}
	mac, vlan, err := r.ctx.ResolveEthL2(attr)
	require.NoError(t, err)
	own, err := net.InterfaceByIndex(int(r.gid.NdevIfindex))
	require.NoError(t, err)
	require.Equal(t, own.HardwareAddr, net.HardwareAddr(mac[:]))
	require.EqualValues(t, 0xffff, vlan, "none")
}

// addressOf is where a buffer is, which is not Go's and stays there.
func addressOf(buf ibv.Buffer) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(buf))) }
