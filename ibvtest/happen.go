//go:build !freebsd

package ibvtest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// Device is one of a fabric's devices, for what is to happen to it. Any goroutine may use it.
type Device struct{ d *device }

// Device is a device of the fabric, from 0. It panics where there is none, as a slice does.
func (f *Fabric) Device(i int) *Device { return &Device{f.devices[i]} }

// Name is what ibv.Open and rdma.Open find it by.
func (d *Device) Name() string { return d.d.name }

// Unplug takes the device away from the programs that have it open, as when a driver is
// removed: their queue pairs fail and are flushed, ibv.EventDeviceFatal tells them, and
// all verbs are syscall.EIO from then on, but for those that close. Receives of a shared
// queue are not flushed: who already waits for one hears of it by the event alone.
// Nobody finds the device any more, and peers hear nothing of it.
func (d *Device) Unplug() {
	defer d.d.f.lock()()
	if d.d.gone.Swap(true) {
		return
	}
	d.d.f.soon(func() {
		for _, number := range slices.Sorted(maps.Keys(d.d.queuePairs)) {
			d.d.queuePairs[number].enter(ibv.QPSErr)
		}
		d.d.event(ibv.EventDeviceFatal, 0)
	})
}

// Crash ends what programs have on the device, as the end of their process does: without
// a word to anybody. Senders to it find out by retrying. The verbs of all that was open
// are syscall.EIO from then on, but for those that close. The device stays, so whoever
// opens it next is the process that was started again. Only the device's part ends:
// the goroutines of the program that has died go on, with these errors, and so does
// what else they have, such as the byte stream of rdma's QP.Connect.
func (d *Device) Crash() {
	defer d.d.f.lock()()
	died := slices.Clone(d.d.contexts)
	for _, c := range died {
		c.died.Store(true)
	}
	d.d.f.soon(func() {
		for number, qp := range d.d.queuePairs {
			if slices.Contains(died, qp.ctx) {
				qp.forget()
				qp.leaveAll()
				delete(d.d.queuePairs, number)
			}
		}
	})
}

// SetPort has a port, from 1, be up or down, and its event come if that is news. What is
// sent to a port that is down, or from one, is lost.
func (d *Device) SetPort(number int, up bool) error {
	defer d.d.f.lock()()
	var p *port
	if number > 0 && number <= len(d.d.ports) {
		p = d.d.ports[number-1]
	} else {
		return fmt.Errorf("ibvtest: set port %d of %s: there is no such port: %w", number, d.d.name, syscall.EINVAL)
	}
	state, link, event := ibv.PortDown, uint8(linkDisabled), ibv.EventPortErr
	if up {
		state, link, event = ibv.PortActive, linkUp, ibv.EventPortActive
	}
	if p.attr.State != state {
		p.attr.State, p.attr.PhysState = state, link
		d.d.event(event, uint8(number))
	}
	return nil
}

// FailQP has a queue pair fail by itself: it goes to ERR, and ibv.EventQPFatal tells of it.
// The error is syscall.EINVAL if the queue pair is not of the fabric's, or closed.
func (f *Fabric) FailQP(qp *ibv.QP) error {
	if qp == nil {
		return fmt.Errorf("ibvtest: fail queue pair: there is none: %w", syscall.EINVAL)
	}
	defer f.lock()()
	own := of[queuePair](address(qp))
	if !f.has(qp.Context) || own.ctx.dev.queuePairs[qp.QPNum] != own {
		return fmt.Errorf("ibvtest: fail queue pair %#x: it is none of the fabric's: %w", qp.QPNum, syscall.EINVAL)
	}
	f.soon(func() {
		own.enter(ibv.QPSErr)
		own.ctx.event(ibv.EventQPFatal, address(qp))
	})
	return nil
}

// OverrunCQ has a completion queue overrun, as if one completion more had come than it has
// room for: ibv.EventCQErr tells of it, no more completions come, polls fail once those
// that are there are taken, and its queue pairs go to ERR, each with ibv.EventQPFatal.
// The error is syscall.EINVAL if the queue is not of the fabric's, or closed.
func (f *Fabric) OverrunCQ(cq *ibv.CQ) error {
	if cq == nil {
		return fmt.Errorf("ibvtest: overrun completion queue: there is none: %w", syscall.EINVAL)
	}
	defer f.lock()()
	own, _ := f.alive[address(cq)].object.(*completionQueue)
	if own == nil {
		return fmt.Errorf("ibvtest: overrun completion queue: it is none of the fabric's: %w", syscall.EINVAL)
	}
	f.soon(func() {
		if !own.dead {
			own.overrun()
		}
	})
	return nil
}

// has reports whether a context is of a device of the fabric's.
func (f *Fabric) has(ctx *ibv.Context) bool {
	d := deviceOf(address(ctx))
	return d != nil && d.f == f
}

// closes reports whether a verb ends an object, which even a device that is gone does.
func closes(function string) bool {
	name := strings.TrimPrefix(function, "ibv_")
	for _, begin := range []string{"ack_", "close_", "dealloc_", "dereg_", "destroy_", "detach_", "free_", "get_async_event", "get_cq_event", "unimport_"} {
		if strings.HasPrefix(name, begin) {
			return true
		}
	}
	return false
}
