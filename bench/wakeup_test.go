package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// waker is one of two connected queue pairs, whose messages are empty.
type waker struct {
	qp         *rdma.QP
	send, recv *rdma.CQ
	recvs      *ibv.RecvChain
	sends      *ibv.SendChain
}

// wakers are two, whose receives complete on queues that are made by recv.
func wakers(tb testing.TB, dev *rdma.Device, recv func() *rdma.CQ) (a, b *waker) {
	tb.Helper()
	pd, err := dev.AllocPD()
	require.NoError(tb, err)
	const port, psn = 1, 7
	gid, err := dev.Raw().BestGID(port)
	require.NoError(tb, err)
	attr, err := dev.Raw().QueryPort(port)
	require.NoError(tb, err)
	var all []*waker
	for range 2 {
		w := &waker{recv: recv()}
		w.send, err = dev.CreateCQ(16, rdma.CQOptions{NoChannel: true})
		require.NoError(tb, err)
		w.qp, err = pd.CreateQP(rdma.QPOptions{SendCQ: w.send, RecvCQ: w.recv})
		require.NoError(tb, err)
		w.recvs, err = ibv.NewRecvChain(1, 0)
		require.NoError(tb, err)
		w.sends, err = ibv.NewSendChain(1, 0)
		require.NoError(tb, err)
		require.NoError(tb, w.sends.Set(0, 1, ibv.WRSend, ibv.SendSignaled))
		all = append(all, w)
	}
	path := rdma.Path{Port: port, GIDIndex: gid.GIDIndex, MTU: attr.ActiveMTU}
	for i, w := range all {
		require.NoError(tb, w.qp.ToInit(port, 0))
		require.NoError(tb, w.qp.ToRTR(path, rdma.Peer{QPNum: all[1-i].qp.Raw().QPNum, PSN: psn, GID: gid.GID}))
		require.NoError(tb, w.qp.ToRTS(psn))
	}
	return all[0], all[1]
}

// run is what C's run does.
func (w *waker) run(n int, first bool) error {
	wcs := make([]ibv.WC, 1)
	send := func() error {
		_, err := w.qp.PostSend(w.sends)
		return err
	}
	for range n {
		if first {
			if err := send(); err != nil {
				return err
			}
		}
		if _, err := w.recv.Wait(context.Background(), wcs); err != nil {
			return err
		}
		if err := wcs[0].Err(); err != nil {
			return err
		}
		if _, err := w.qp.PostRecv(w.recvs); err != nil {
			return err
		}
		if !first {
			if err := send(); err != nil {
				return err
			}
		}
		for got := 0; got == 0; {
			var err error
			if got, err = w.send.Poll(wcs); err != nil {
				return err
			}
		}
	}
	return nil
}

// wakeUp is native.WakeUp in Go.
func wakeUp(a, b *waker, n int) (time.Duration, error) {
	for _, w := range []*waker{a, b} {
		if _, err := w.qp.PostRecv(w.recvs); err != nil {
			return 0, err
		}
	}
	other := make(chan error)
	go func() { other <- b.run(n, false) }()
	start := time.Now()
	err := errors.Join(a.run(n, true), <-other)
	return time.Since(start), err
}

// BenchmarkWakeUp has two ends wake each other by messages: two threads in C, which
// wait in ibv_get_cq_event, and two goroutines in CQ.Wait. Rounds of both alternate.
// What is reported is the median of a wake-up, a message from one end to the other,
// and of how much longer it takes in Go. It needs a device: -args -device rxe0. In User
// Mode Linux a look at the clock is a system call of tens of microseconds, and Go's
// scheduler looks often, so the difference there says how many system calls more it is.
func BenchmarkWakeUp(b *testing.B) {
	if *deviceName == "" {
		b.Skip("the stub sends no messages: -args -device rxe0")
	}
	dev, err := rdma.Open(*deviceName, rdma.DeviceOptions{})
	require.NoError(b, err)
	inGo, inGoToo := wakers(b, dev, func() *rdma.CQ {
		cq, err := dev.CreateCQ(16, rdma.CQOptions{})
		require.NoError(b, err)
		return cq
	})
	var raws []interface{ Close() error }
	inC, inCToo := wakers(b, dev, func() *rdma.CQ {
		channel, err := dev.Raw().CreateCompChannel()
		require.NoError(b, err)
		raw, err := dev.Raw().CreateCQWithChannel(16, 0, channel, 0)
		require.NoError(b, err)
		cq, err := dev.AdoptCQ(raw, rdma.CQOptions{})
		require.NoError(b, err)
		raws = append(raws, raw, channel)
		return cq
	})
	native1, native2 := inC.native(), inCToo.native()
	const messages = 200
	var c, goverbs, more []float64
	for b.Loop() {
		took := native.WakeUp(native1, native2, messages)
		require.Positive(b, took)
		c = append(c, float64(took)/messages/2)
		took, err := wakeUp(inGo, inGoToo, messages)
		require.NoError(b, err)
		goverbs = append(goverbs, float64(took)/messages/2)
		more = append(more, goverbs[len(c)-1]-c[len(c)-1])
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(median(c), "c-ns/wake-up")
	b.ReportMetric(median(goverbs), "go-ns/wake-up")
	b.ReportMetric(median(more), "more-ns/wake-up")
	for _, w := range []*waker{inC, inCToo} {
		require.NoError(b, w.qp.Close())
		require.NoError(b, w.recv.Close())
	}
	for _, raw := range raws {
		require.NoError(b, raw.Close())
	}
	require.NoError(b, dev.CloseAll())
}

func (w *waker) native() native.Waker {
	return native.Waker{QP: w.qp.Raw(), SendCQ: w.send.Raw(), RecvCQ: w.recv.Raw()}
}

func median(samples []float64) float64 {
	slices.Sort(samples)
	return samples[len(samples)/2]
}
