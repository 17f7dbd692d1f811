//go:build !freebsd

package ibvtest_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// events is the types of the device's events that come within a while.
func events(t *testing.T, dev *rdma.Device, n int) (types []ibv.EventType) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for e, err := range dev.Events(ctx) {
		require.NoError(t, err)
		if types = append(types, e.Type); len(types) == n {
			return types
		}
	}
	return types
}

// A device that is unplugged flushes what there is, says so, and fails from then on; what
// there is of it can be closed, and nobody finds it any more.
func TestUnplug(t *testing.T) {
	r := newRig(t)
	a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
	connect(t, a, b)
	chain := expectTwo(t, a)

	device := r.f.Device(0)
	device.Unplug()
	device.Unplug()
	require.Equal(t, []ibv.EventType{ibv.EventDeviceFatal}, events(t, r.dev, 1))
	wcs := make([]ibv.WC, 4)
	n, err := r.cq.Wait(t.Context(), wcs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, ibv.WCWRFlushErr, wcs[0].Status)
	_, err = a.PostRecv(chain)
	require.ErrorIs(t, err, syscall.EIO)
	_, err = r.dev.AllocPD()
	require.ErrorIs(t, err, syscall.EIO)
	_, err = rdma.Open(device.Name(), rdma.DeviceOptions{})
	require.ErrorIs(t, err, syscall.ENODEV)
	require.NoError(t, r.dev.CloseAll())
}

// Whoever sends to a process that has died finds out by retrying, and by nothing else.
func TestCrash(t *testing.T) {
	f := ibvtest.New(t, ibvtest.Devices(2))
	here, there := openRig(t, f, 0), openRig(t, f, 1)
	a, b := here.qp(ibv.QPTRC), there.qp(ibv.QPTRC)
	connect(t, a, b)
	f.Device(1).Crash()
	send, err := ibv.NewSendChain(1, 0)
	require.NoError(t, err)
	require.NoError(t, send.Set(0, 1, ibv.WRSend, ibv.SendSignaled))
	_, err = a.PostSend(send)
	require.NoError(t, err)
	wcs := make([]ibv.WC, 1)
	_, err = here.cq.Wait(t.Context(), wcs)
	require.NoError(t, err)
	require.Equal(t, ibv.WCRetryExcErr, wcs[0].Status)
	_, err = b.PostSend(send)
	require.ErrorIs(t, err, syscall.EIO)
	n, err := there.cq.Poll(wcs)
	require.NoError(t, err)
	require.Zero(t, n)
}

// A process that has died is started again on its device, and connects to the one that went on.
func TestRestartAfterCrash(t *testing.T) {
	f := ibvtest.New(t, ibvtest.Devices(2), ibvtest.Limits(func(l *ibv.DeviceAttr) { l.MaxQP = 2 }))
	here, died := openRig(t, f, 0), openRig(t, f, 1)
	old := died.qp(ibv.QPTRC)
	connect(t, here.qp(ibv.QPTRC), old)
	_, err := old.Raw().PostRecv(&ibv.RecvWR{})
	require.NoError(t, err)
	f.Device(1).Crash()
	again := openRig(t, f, 1)
	f.Device(1).Crash()
	_, err = again.dev.AllocPD()
	require.ErrorIs(t, err, syscall.EIO)

	again = openRig(t, f, 1)
	a, b := here.qp(ibv.QPTRC), again.qp(ibv.QPTRC)
	again.qp(ibv.QPTRC) // the device has room for it, because those that died are gone
	connect(t, a, b)
	_, err = b.Raw().PostRecv(&ibv.RecvWR{WRID: 7})
	require.NoError(t, err)
	_, err = a.Raw().PostSend(&ibv.SendWR{Opcode: ibv.WRSend})
	require.NoError(t, err)
	wcs := make([]ibv.WC, 2)
	n, err := again.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 1, n)
	require.EqualValues(t, 7, wcs[0].WRID)

	for _, fails := range []func() error{
		func() error { return second(died.dev.AllocPD()) },
		func() error { return second(died.dev.Raw().QueryPort(1)) },
		func() error { return second(old.State()) },
		func() error { return second(old.Raw().PostRecv(&ibv.RecvWR{})) },
		func() error { return second(old.Raw().PostSend(&ibv.SendWR{})) },
	} {
		require.ErrorIs(t, fails(), syscall.EIO)
	}
	require.NoError(t, f.Device(1).SetPort(1, false))
	require.Equal(t, []ibv.EventType{ibv.EventPortErr}, events(t, again.dev, 1))
	require.NoError(t, old.Close())
	require.NoError(t, died.dev.CloseAll())
}

// A port that is down takes no messages and sends none, and says so.
func TestSetPort(t *testing.T) {
	r := newRig(t)
	a, b := r.qp(ibv.QPTUC), r.qp(ibv.QPTUC)
	connect(t, a, b)
	expectTwo(t, b)
	send, err := ibv.NewSendChain(1, 0)
	require.NoError(t, err)
	require.NoError(t, send.Set(0, 1, ibv.WRSend, 0))
	arrived := func() int {
		_, err := a.PostSend(send)
		require.NoError(t, err)
		n, err := r.cq.Poll(make([]ibv.WC, 4))
		require.NoError(t, err)
		return n
	}
	device := r.f.Device(0)
	require.Equal(t, 1, arrived())
	require.NoError(t, device.SetPort(1, false))
	require.Zero(t, arrived())
	port, err := r.dev.Raw().QueryPort(1)
	require.NoError(t, err)
	require.Equal(t, ibv.PortDown, port.State)
	require.NoError(t, device.SetPort(1, true))
	require.NoError(t, device.SetPort(1, true))
	require.Equal(t, 1, arrived())
	require.Equal(t, []ibv.EventType{ibv.EventPortErr, ibv.EventPortActive}, events(t, r.dev, 2))
	require.ErrorIs(t, device.SetPort(2, false), syscall.EINVAL)
}

// A queue pair that fails by itself is flushed, and an event names it.
func TestFailQP(t *testing.T) {
	r := newRig(t)
	qp := r.qp(ibv.QPTRC)
	expectTwo(t, qp)
	require.NoError(t, r.f.FailQP(qp.Raw()))
	require.Equal(t, []ibv.EventType{ibv.EventQPFatal}, events(t, r.dev, 1))
	wcs := make([]ibv.WC, 4)
	n, err := r.cq.Wait(t.Context(), wcs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	state, err := qp.State()
	require.NoError(t, err)
	require.Equal(t, ibv.QPSErr, state)
	require.ErrorIs(t, ibvtest.New(t).FailQP(qp.Raw()), syscall.EINVAL)
}

// A completion queue that overruns takes its queue pairs along, and says so; what it has can be polled.
func TestOverrunCQ(t *testing.T) {
	r := newRig(t)
	qp := r.qp(ibv.QPTRC)
	expectTwo(t, qp)
	require.NoError(t, qp.ToErr())
	require.NoError(t, r.f.OverrunCQ(r.cq.Raw()))
	require.NoError(t, r.f.OverrunCQ(r.cq.Raw()))
	require.Equal(t, []ibv.EventType{ibv.EventCQErr}, events(t, r.dev, 1), "the queue pair was in ERR")
	wcs := make([]ibv.WC, 4)
	n, err := r.cq.Poll(wcs)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	_, err = r.cq.Poll(wcs)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorIs(t, r.f.OverrunCQ(nil), syscall.EINVAL)
	require.ErrorIs(t, ibvtest.New(t).OverrunCQ(r.cq.Raw()), syscall.EINVAL)

	other := newRig(t)
	connected := other.qp(ibv.QPTRC)
	require.NoError(t, other.f.OverrunCQ(other.cq.Raw()))
	require.Equal(t, []ibv.EventType{ibv.EventCQErr, ibv.EventQPFatal}, events(t, other.dev, 2))
	state, err := connected.State()
	require.NoError(t, err)
	require.Equal(t, ibv.QPSErr, state)
}
