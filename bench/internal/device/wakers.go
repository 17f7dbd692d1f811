package device

import (
	"errors"
	"slices"

	"github.com/goverbs/goverbs/bench/internal/stub"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Wakers are two connected queue pairs that wake each other by empty messages.
type Wakers struct {
	Ends [2]Waker
	// Stub wakes the first end as a device does. It is nil of a real device.
	Stub *stub.Waking
	kept []func() error // what closes all of it, in the order in which it was made
}

// Waker is one end. A receive is posted.
type Waker struct {
	QP             *ibv.QP
	SendCQ, RecvCQ *ibv.CQ
	// Handle is of RecvCQ, whose events are read for it, on one channel for both ends.
	// It is nil for ends that wait in C: these have a channel each, which blocks.
	Handle *rdma.CQ
	Recv   *ibv.RecvChain
}

// Keep has something closed before what is there already.
func (w *Wakers) Keep(close func() error) { w.kept = append(w.kept, close) }

// close closes what there is.
func (w *Wakers) close() error {
	var errs []error
	for _, close := range slices.Backward(w.kept) {
		errs = append(errs, close())
	}
	w.kept = nil
	return errors.Join(errs...)
}

// channels is how many channels there are.
func channels(handles bool) int {
	if handles {
		return 1
	}
	return 2
}

// adopt makes the handles of the ends' queues.
func (w *Wakers) adopt(dev *rdma.Device) error {
	channel, err := dev.AdoptChannel(w.Ends[0].RecvCQ.Channel)
	if err != nil {
		return err
	}
	w.Keep(channel.CloseAll)
	for i := range w.Ends {
		e := &w.Ends[i]
		if e.Handle, err = dev.AdoptCQ(e.RecvCQ, rdma.CQOptions{Channel: channel}); err != nil {
			return err
		}
	}
	return nil
}

// post posts a receive at each end.
func (w *Wakers) post() (err error) {
	for i := range w.Ends {
		e := &w.Ends[i]
		if e.Recv, err = ibv.NewRecvChain(1, 0); err != nil {
			return err
		}
		if _, err = e.Recv.Post(e.QP); err != nil {
			return err
		}
	}
	return nil
}

// Wakers makes them, with handles or for C. Close closes them.
func (d *real) Wakers(handles bool) (*Wakers, error) {
	w := &Wakers{}
	d.wakers = append(d.wakers, w)
	var all []*ibv.CompChannel
	for range channels(handles) {
		channel, err := d.ctx.CreateCompChannel()
		if err != nil {
			return nil, err
		}
		w.Keep(channel.Close)
		all = append(all, channel)
	}
	for i := range w.Ends {
		e := &w.Ends[i]
		var err error
		if e.SendCQ, err = d.ctx.CreateCQ(Window); err != nil {
			return nil, err
		}
		w.Keep(e.SendCQ.Close)
		if e.RecvCQ, err = d.ctx.CreateCQWithChannel(Window, 0, all[i%len(all)], 0); err != nil {
			return nil, err
		}
		w.Keep(e.RecvCQ.Close)
		if e.QP, err = d.pd.CreateQP(&ibv.QPInitAttr{
			SendCQ: e.SendCQ, RecvCQ: e.RecvCQ, QPType: ibv.QPTRC,
			Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
		}); err != nil {
			return nil, err
		}
		w.Keep(e.QP.Close)
	}
	for i := range w.Ends {
		if err := d.connectRC(w.Ends[i].QP, w.Ends[1-i].QP.QPNum, 0); err != nil {
			return nil, err
		}
	}
	if handles {
		if err := w.adopt(d.dev); err != nil {
			return nil, err
		}
	}
	return w, w.post()
}

// Wakers makes them, with handles or for C. Close closes them.
func (s *Stub) Wakers(handles bool) (*Wakers, error) {
	w := &Wakers{}
	s.wakers = append(s.wakers, w)
	p, err := stub.NewWaking(channels(handles))
	if err != nil {
		return nil, err
	}
	w.Stub = p
	w.Keep(func() error { p.Close(); return nil })
	for i := range w.Ends {
		w.Ends[i] = Waker{QP: p.QP(i), SendCQ: p.SendCQ(i), RecvCQ: p.RecvCQ(i)}
	}
	if handles {
		dev, err := rdma.AdoptDevice(w.Ends[0].QP.Context, rdma.DeviceOptions{})
		if err != nil {
			return nil, err
		}
		w.Keep(dev.CloseAll)
		if err := w.adopt(dev); err != nil {
			return nil, err
		}
	}
	return w, w.post()
}
