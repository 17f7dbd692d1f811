package rdma

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Outside of checked mode, handles have the very functions that ibv binds, and what
// destroys C's object is called with nothing around it.
func TestBound(t *testing.T) {
	context := &ibv.Context{Device: &ibv.Device{}}
	context.Ops.PostSend, context.Ops.PostRecv, context.Ops.PostSRQRecv, context.Ops.PollCQ = 1, 2, 3, 4
	l, err := begin("device")
	require.NoError(t, err)
	dev := &Device{l: l, raw: context}
	live(l, dev, "bound0", nil, nil)
	defer func() { require.NoError(t, dev.CloseAll()) }()
	start := func(kind string, parents ...Object) *life {
		l, err := begin(kind, parents...)
		require.NoError(t, err)
		return l
	}

	pd := newPD(dev, start("protection domain", dev), &ibv.PD{Context: context}, nil)
	cq, err := newCQ(dev, start("completion queue", dev), &ibv.CQ{Context: context}, nil, CQOptions{}, nil)
	require.NoError(t, err)
	requireBound(t, cq.raw.Poller(), cq.poller)
	srq := newSRQ(pd, start("shared receive queue", pd), &ibv.SRQ{Context: context}, ibv.SRQAttr{}, nil)
	requireBound(t, srq.raw.RecvPoster(), srq.recv)
	for _, raw := range []*ibv.QP{{Context: context}, {Context: context, SRQ: srq.raw}} {
		qp := &QP{raw: raw, l: start("queue pair", pd), pd: pd, sendCQ: cq, recvCQ: cq}
		qp.begin(nil)
		requireBound(t, raw.SendPoster(), qp.send)
		if raw.SRQ == nil {
			requireBound(t, raw.RecvPoster(), qp.recv)
		}
		requireSame(t, raw.Close, qp.check(raw.Close))
		require.NoError(t, qp.Close())
	}
	requireSame(t, cq.raw.Close, cq.check(CQOptions{}, cq.raw.Close))
	requireSame(t, srq.raw.Close, srq.check(srq.raw.Close))
}

// requireBound requires that the functions of two posters or pollers have the same
// code, or in checked mode, others.
func requireBound(t *testing.T, want, got any) {
	t.Helper()
	w, g := reflect.ValueOf(want), reflect.ValueOf(got)
	for i := range w.NumField() {
		if w.Field(i).Kind() == reflect.Func {
			require.Equal(t, !checked, w.Field(i).Pointer() == g.Field(i).Pointer(), "%v", w.Type().Field(i).Name)
		}
	}
}

func requireSame(t *testing.T, want, got func() error) {
	t.Helper()
	require.Equal(t, !checked, reflect.ValueOf(want).Pointer() == reflect.ValueOf(got).Pointer())
}
