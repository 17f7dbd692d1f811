//go:build !freebsd

package ibvtest_test

import (
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

// A hook that ends its goroutine, as a failed assertion does, or panics, leaves the fabric as it was.
func TestHooksEndTheirGoroutine(t *testing.T) {
	r := newRig(t)
	remove := r.f.OnCall(func(*ibvtest.Call) { runtime.Goexit() })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = r.dev.AllocPD()
		t.Error("the hook did not end it")
	}()
	<-ended
	remove()
	remove = r.f.OnPost(func(*ibvtest.PostedWR) { panic("mine") })
	qp := r.qp(ibv.QPTRC)
	assert.PanicsWithValue(t, "mine", func() { _, _ = qp.Raw().PostRecv(&ibv.RecvWR{}) })
	remove()
	_, err := r.dev.AllocPD()
	assert.NoError(t, err)
}

// A hook may take itself away, and put others there.
func TestHooksChangeHooks(t *testing.T) {
	r := newRig(t)
	qp := r.qp(ibv.QPTRC).Raw()
	var remove func()
	others := 0
	remove = r.f.OnPost(func(p *ibvtest.PostedWR) {
		remove()
		r.f.OnPost(func(*ibvtest.PostedWR) { others++ })
		p.Refuse(ibvtest.Refusal{Errno: syscall.EBADF})
	})
	_, err := qp.PostRecv(&ibv.RecvWR{})
	require.ErrorIs(t, err, syscall.EBADF)
	require.Zero(t, others)
	_, err = qp.PostRecv(&ibv.RecvWR{})
	require.NoError(t, err)
	require.Equal(t, 1, others)
}

// What happens to devices and queue pairs may be had by hooks: it is there when the verb is over that the hook is of.
func TestHooksHaveThingsHappen(t *testing.T) {
	for name, happens := range map[string]func(r *rig, qp *ibv.QP){
		"unplug": func(r *rig, _ *ibv.QP) { r.f.Device(0).Unplug() },
		"fail":   func(r *rig, qp *ibv.QP) { assert.NoError(r.t, r.f.FailQP(qp)) },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
			connect(t, a, b)
			r.f.OnMessage(func(*ibvtest.Message) { happens(r, a.Raw()) })
			_, err := a.Raw().PostSend(&ibv.SendWR{WRID: 5, Opcode: ibv.WRSend, SendFlags: ibv.SendSignaled})
			require.NoError(t, err)
			wcs := make([]ibv.WC, 2)
			n, err := r.cq.Poll(wcs)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			assert.EqualValues(t, 5, wcs[0].WRID)
			assert.Equal(t, ibv.WCWRFlushErr, wcs[0].Status)
		})
	}
	t.Run("crash", func(t *testing.T) {
		r := newRig(t)
		a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
		connect(t, a, b)
		r.f.OnMessage(func(*ibvtest.Message) { r.f.Device(0).Crash() })
		_, err := a.Raw().PostSend(&ibv.SendWR{Opcode: ibv.WRSend, SendFlags: ibv.SendSignaled})
		require.NoError(t, err)
		n, err := r.cq.Poll(make([]ibv.WC, 2))
		require.NoError(t, err)
		assert.Zero(t, n)
		_, err = b.Raw().PostRecv(&ibv.RecvWR{})
		assert.ErrorIs(t, err, syscall.EIO)
		again, err := ibv.Open(r.f.Device(0).Name())
		require.NoError(t, err)
		require.NoError(t, again.Close())
	})
	t.Run("port", func(t *testing.T) {
		r := newRig(t)
		remove := r.f.OnCall(func(*ibvtest.Call) { assert.NoError(t, r.f.Device(0).SetPort(1, false)) })
		_, err := r.dev.AllocPD()
		require.NoError(t, err)
		remove()
		port, err := r.dev.Raw().QueryPort(1)
		require.NoError(t, err)
		assert.Equal(t, ibv.PortDown, port.State)
	})
}

// Verbs that a hook calls are refused: the fabric does one thing at a time.
func TestHooksCallNoVerbs(t *testing.T) {
	r := newRig(t)
	raw := r.qp(ibv.QPTRC).Raw()
	ran := false
	remove := r.f.OnCall(func(*ibvtest.Call) {
		ran = true
		_, err := r.dev.Raw().AllocPD()
		assert.ErrorIs(t, err, syscall.EDEADLK)
		_, err = raw.PostRecv(&ibv.RecvWR{})
		assert.ErrorIs(t, err, syscall.EDEADLK)
		_, err = raw.PostSend(&ibv.SendWR{})
		assert.ErrorIs(t, err, syscall.EDEADLK)
		_, err = raw.SendCQ.Poll(make([]ibv.WC, 1))
		assert.ErrorIs(t, err, syscall.EDEADLK)
	})
	_, err := r.dev.AllocPD()
	require.NoError(t, err)
	remove()
	assert.True(t, ran)
}

// Options that say nothing, and arguments that name nothing, are no reason to panic.
func TestOptionsWithoutSense(t *testing.T) {
	f := ibvtest.New(t, nil, ibvtest.Limits(nil), ibvtest.Delay(0, 1<<63-1))
	require.Len(t, f.Names(), 1)
	r := openRig(t, f, 0)
	a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
	connect(t, a, b)
	_, err := a.Raw().PostSend(&ibv.SendWR{})
	assert.NoError(t, err)
	assert.ErrorIs(t, f.FailQP(nil), syscall.EINVAL)
	assert.ErrorIs(t, f.Device(0).SetPort(1<<32+1, true), syscall.EINVAL)
}
