package subject

import (
	"context"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/bench/internal/ticks"
	"github.com/goverbs/goverbs/ibv"
)

// wakeUps is how many wake-ups there are in a round, of which a quarter warms up.
const wakeUps = 128

// wakeUp has two ends wake each other by messages: two threads in C, and two
// goroutines that wait with handles. A call is a wake-up, a message from one end to
// the other.
func wakeUp(d device.Device) ([]*Subject, error) {
	inC, err := d.Wakers(false)
	if err != nil {
		return nil, err
	}
	inGo, err := d.Wakers(true)
	if err != nil {
		return nil, err
	}
	a, b := nativeWaker(&inC.Ends[0]), nativeWaker(&inC.Ends[1])
	w, err := newWakers(inGo)
	if err != nil {
		return nil, err
	}
	common := Subject{Op: WakeUp, WRs: 1, Calls: wakeUps, warm: wakeUps / 4}
	return share(common, []variant{
		{C, func(n int) (int, int64) { return native.WakeUp(a, b, n) }},
		{RDMA, w.run},
	}), nil
}

func nativeWaker(e *device.Waker) native.Waker {
	return native.Waker{QP: e.QP, SendCQ: e.SendCQ, RecvCQ: e.RecvCQ}
}

// wakers are the ends, each of which is a goroutine.
type wakers struct {
	a, b *waker
	// The goroutine of b is there for all rounds, and is told how many messages there are.
	begin chan int
	ended chan error
}

type waker struct {
	*device.Waker
	send *ibv.SendChain
	wcs  []ibv.WC
}

func newWakers(ends *device.Wakers) (*wakers, error) {
	w := &wakers{begin: make(chan int), ended: make(chan error)}
	for i, to := range []**waker{&w.a, &w.b} {
		send, err := ibv.NewSendChain(1, 0)
		if err != nil {
			return nil, err
		}
		if err := send.Set(0, 1, ibv.WRSend, ibv.SendSignaled); err != nil {
			return nil, err
		}
		*to = &waker{Waker: &ends.Ends[i], send: send, wcs: make([]ibv.WC, 1)}
	}
	go func() {
		for n := range w.begin {
			w.ended <- w.b.run(n, false)
		}
	}()
	ends.Keep(func() error {
		close(w.begin)
		return nil
	})
	return w, nil
}

// run is what wake_up does in C.
func (w *wakers) run(n int) (good int, elapsed int64) {
	w.begin <- n / 2
	start := ticks.Now()
	err := w.a.run(n/2, true)
	failed := <-w.ended
	elapsed = ticks.Now() - start
	if err != nil || failed != nil {
		return 0, elapsed
	}
	return n, elapsed
}

// run is what run does in C.
func (w *waker) run(n int, first bool) error {
	for range n {
		if first {
			if _, err := w.send.Post(w.QP); err != nil {
				return err
			}
		}
		if _, err := w.Handle.Wait(context.Background(), w.wcs); err != nil {
			return err
		}
		if err := w.wcs[0].Err(); err != nil {
			return err
		}
		if _, err := w.Recv.Post(w.QP); err != nil {
			return err
		}
		if !first {
			if _, err := w.send.Post(w.QP); err != nil {
				return err
			}
		}
		for got := 0; got == 0; {
			var err error
			if got, err = w.SendCQ.Poll(w.wcs); err != nil {
				return err
			}
		}
	}
	return nil
}
