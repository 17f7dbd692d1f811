//go:build device

package rdmacm_test

import (
	"cmp"
	"encoding/binary"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/rdmacm"
)

// address is that of a device, here the guests' rxe0 and, where uml runs, siw0.
var address = cmp.Or(os.Getenv("GOVERBS_TEST_ADDRESS"), "10.9.9.1")

const (
	service = "7471"
	nobody  = "7472"
	// patience is in milliseconds how long an address or a route may take.
	patience = 10_000
	messages = 32
	size     = 1024 // bytes of a message
)

// text is a string of C's.
func text(t *testing.T, s string) *byte {
	t.Helper()
	p, err := clib.String(s)
	require.NoError(t, err)
	return p
}

// lookup resolves the devices' address and a service, as one that listens or as one
// that connects.
func lookup(t *testing.T, service string, flags int32) *rdmacm.Addrinfo {
	t.Helper()
	hints := rdmacm.Addrinfo{AiFlags: flags, AiPortSpace: int32(rdmacm.PSTCP)}
	var found *rdmacm.Addrinfo
	_, err := rdmacm.Getaddrinfo(text(t, address), text(t, service), &hints, &found)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rdmacm.Freeaddrinfo(found)) })
	return found
}

// end is one side of a connection, with a channel for its events.
type end struct {
	t       *testing.T
	channel *rdmacm.EventChannel
	id      *rdmacm.CmID
	pd      *ibv.PD
	cq      *ibv.CQ
	qp      *rdma.QP
	polled  *rdma.CQ // the handle of cq
	mr      *ibv.MR  // messages to send, then messages that came, then what the peer writes
}

func newEnd(t *testing.T) *end {
	t.Helper()
	e := &end{t: t}
	var err error
	e.channel, err = rdmacm.CreateEventChannel()
	require.NoError(t, err, "these tests need the kernel's rdma_ucm: run them in a guest, make test-vm or make test-uml")
	t.Cleanup(func() { require.NoError(t, rdmacm.DestroyEventChannel(e.channel)) })
	return e
}

// newID is an identifier whose events come to the end's channel.
func (e *end) newID() *rdmacm.CmID {
	e.t.Helper()
	var id *rdmacm.CmID
	require.NoError(e.t, rdmacm.CreateID(e.channel, &id, 0, rdmacm.PSTCP))
	e.t.Cleanup(func() { require.NoError(e.t, rdmacm.DestroyID(id)) })
	return id
}

// await takes the next event, which must be of a type, shows it to look, and
// acknowledges it.
func (e *end) await(want rdmacm.CmEventType, look func(*rdmacm.CmEvent)) {
	e.t.Helper()
	var event *rdmacm.CmEvent
	require.NoError(e.t, rdmacm.GetCmEvent(e.channel, &event))
	require.Equal(e.t, want, event.Event, "status %d", event.Status)
	name, err := rdmacm.EventStr(event.Event)
	require.NoError(e.t, err)
	require.Equal(e.t, want.String(), name)
	if look != nil {
		look(event)
	}
	require.NoError(e.t, rdmacm.AckCmEvent(event))
}

// equip gives an identifier that has its device a queue pair, memory, and receives.
func (e *end) equip(id *rdmacm.CmID) {
	e.t.Helper()
	e.id = id
	var err error
	e.pd, err = id.Verbs.AllocPD()
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, e.pd.Close()) })
	e.cq, err = id.Verbs.CreateCQ(2*messages + 2)
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, e.cq.Close()) })
	buf, err := ibv.AllocBuffer(3 * messages * size)
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, buf.Free()) })
	e.mr, err = e.pd.RegMR(buf, ibv.AccessLocalWrite|ibv.AccessRemoteWrite)
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, e.mr.Close()) })
	require.NoError(e.t, rdmacm.CreateQP(id, e.pd, &ibv.QPInitAttr{
		SendCQ: e.cq, RecvCQ: e.cq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: messages + 1, MaxRecvWR: messages, MaxSendSGE: 1, MaxRecvSGE: 1},
	}))
	e.t.Cleanup(func() { require.NoError(e.t, rdmacm.DestroyQP(id)) })
	chain, err := ibv.NewRecvChain(messages, 1)
	require.NoError(e.t, err)
	for i := range messages {
		require.NoError(e.t, chain.Set(i, uint64(i), e.mr.SGE((messages+i)*size, size)))
	}
	_, err = chain.Post(id.QP)
	require.NoError(e.t, err)
}

// adopt makes handles of what librdmacm has made and connected.
func (e *end) adopt() {
	e.t.Helper()
	dev, err := rdma.AdoptDevice(e.id.Verbs, rdma.DeviceOptions{})
	require.NoError(e.t, err)
	e.t.Cleanup(func() { require.NoError(e.t, dev.CloseAll()) })
	pd, err := dev.AdoptPD(e.pd)
	require.NoError(e.t, err)
	e.polled, err = dev.AdoptCQ(e.cq, rdma.CQOptions{})
	require.NoError(e.t, err)
	e.qp, err = pd.AdoptQP(e.id.QP, rdma.QPOptions{SendCQ: e.polled, RecvCQ: e.polled})
	require.NoError(e.t, err)
}

// window is where the peer may write: what both sides tell in their private data.
type window struct {
	addr uint64
	rkey uint32
}

// param is what an end connects or accepts with.
func (e *end) param() (*rdmacm.ConnParam, *runtime.Pinner) {
	data := binary.BigEndian.AppendUint64(nil, uint64(e.mr.Addr)+2*messages*size)
	data = binary.BigEndian.AppendUint32(data, e.mr.RKey)
	var kept runtime.Pinner
	kept.Pin(&data[0])
	return &rdmacm.ConnParam{
		// Safe: the bytes are pinned until C has copied them.
		PrivateData: uintptr(unsafe.Pointer(&data[0])), PrivateDataLen: uint8(len(data)),
		ResponderResources: 1, InitiatorDepth: 1, RetryCount: 7, RNRRetryCount: 7,
	}, &kept
}

// told is what the peer told with an event.
func told(t *testing.T, event *rdmacm.CmEvent) (w window) {
	t.Helper()
	conn := event.Param.Conn()
	require.GreaterOrEqual(t, int(conn.PrivateDataLen), 12)
	// Safe: the event has these bytes until it is acknowledged.
	data := unsafe.Slice(clib.At[byte](conn.PrivateData), conn.PrivateDataLen)
	return window{binary.BigEndian.Uint64(data), binary.BigEndian.Uint32(data[8:])}
}

func fill(b []byte, seed int) {
	for i := range b {
		b[i] = byte(i*7 + seed*13 + 1)
	}
}

// sendAll sends every message, and writes into the peer's window behind them.
func (e *end) sendAll(seed int, peer window) {
	e.t.Helper()
	fill(e.mr.Bytes()[:messages*size], seed)
	chain, err := ibv.NewSendChain(messages+1, 1)
	require.NoError(e.t, err)
	require.NoError(e.t, chain.SetRDMA(0, messages, ibv.WRRDMAWrite, ibv.SendSignaled, e.mr.SGE(0, messages*size), peer.addr, peer.rkey))
	for i := range messages {
		require.NoError(e.t, chain.Set(i+1, uint64(i), ibv.WRSend, ibv.SendSignaled, e.mr.SGE(i*size, size)))
	}
	_, err = e.qp.PostSend(chain)
	require.NoError(e.t, err)
}

// checkAll takes all completions, and compares what came.
func (e *end) checkAll(seed int) {
	e.t.Helper()
	wcs := make([]ibv.WC, 2*messages+1)
	deadline := time.Now().Add(time.Minute)
	for got := 0; got < len(wcs); {
		n, err := e.polled.Poll(wcs[got:])
		require.NoError(e.t, err)
		for i := range wcs[got : got+n] {
			require.NoError(e.t, wcs[got+i].Err())
		}
		got += n
		require.True(e.t, time.Now().Before(deadline), "%d of %d completions", got, len(wcs))
		runtime.Gosched()
	}
	want := make([]byte, messages*size)
	fill(want, seed)
	all := e.mr.Bytes()
	require.Equal(e.t, want, all[messages*size:2*messages*size], "messages")
	require.Equal(e.t, want, all[2*messages*size:], "what the peer wrote")
}

// resolve brings an identifier to where it has a device and a route to a service.
func (e *end) resolve(id *rdmacm.CmID, service string) {
	e.t.Helper()
	require.NoError(e.t, rdmacm.ResolveAddr(id, nil, lookup(e.t, service, 0).AiDstAddr, patience))
	e.await(rdmacm.CmEventAddrResolved, nil)
	require.NoError(e.t, rdmacm.ResolveRoute(id, patience))
	e.await(rdmacm.CmEventRouteResolved, nil)
}

// Two queue pairs are connected, exchange messages and writes in both directions, and
// are disconnected, by librdmacm's functions as they were generated.
func TestConnect(t *testing.T) {
	passive, active := newEnd(t), newEnd(t)
	listener := passive.newID()
	require.NoError(t, rdmacm.BindAddr(listener, lookup(t, service, rdmacm.RAIPassive).AiSrcAddr))
	require.NoError(t, rdmacm.Listen(listener, 1))
	port, err := rdmacm.GetSrcPort(listener)
	require.NoError(t, err)
	require.Equal(t, uint16(7471), port.Host())

	active.id = active.newID()
	active.resolve(active.id, service)
	active.equip(active.id)
	t.Logf("on %v", active.id.Verbs.Device)
	require.Equal(t, active.pd, active.id.PD)
	param, kept := active.param()
	require.NoError(t, rdmacm.Connect(active.id, param))
	kept.Unpin()

	var fromActive, fromPassive window
	passive.await(rdmacm.CmEventConnectRequest, func(event *rdmacm.CmEvent) {
		require.Equal(t, listener, event.ListenID)
		fromActive = told(t, event)
		t.Cleanup(func() { require.NoError(t, rdmacm.DestroyID(passive.id)) })
		passive.id = event.ID
	})
	passive.equip(passive.id)
	require.NotEqual(t, active.id.QP.QPNum, passive.id.QP.QPNum)
	param, kept = passive.param()
	require.NoError(t, rdmacm.Accept(passive.id, param))
	kept.Unpin()
	active.await(rdmacm.CmEventEstablished, func(event *rdmacm.CmEvent) { fromPassive = told(t, event) })

	active.adopt()
	passive.adopt()
	active.sendAll(1, fromPassive) // iWARP has the active side speak first
	passive.await(rdmacm.CmEventEstablished, nil)
	passive.sendAll(2, fromActive)
	passive.checkAll(1)
	active.checkAll(2)

	require.NoError(t, rdmacm.Disconnect(active.id))
	passive.await(rdmacm.CmEventDisconnected, nil)
	require.NoError(t, rdmacm.Disconnect(passive.id)) // which answers
	active.await(rdmacm.CmEventDisconnected, nil)
}

// Where nobody listens, the connection is rejected, and what cannot be done is an
// error with its reason.
func TestConnectToNobody(t *testing.T) {
	e := newEnd(t)
	e.id = e.newID()
	e.resolve(e.id, nobody)
	e.equip(e.id)
	param, kept := e.param()
	err := rdmacm.Connect(e.id, param)
	kept.Unpin()
	if e.id.Verbs.Device.TransportType == ibv.TransportIWARP {
		require.ErrorIs(t, err, syscall.ECONNREFUSED, "TCP connects at once")
	} else {
		require.NoError(t, err)
		e.await(rdmacm.CmEventRejected, func(event *rdmacm.CmEvent) { require.NotZero(t, event.Status) })
	}
	var found *rdmacm.Addrinfo
	_, err = rdmacm.Getaddrinfo(text(t, "no.such.host.invalid"), text(t, service), nil, &found)
	require.Error(t, err)
}
