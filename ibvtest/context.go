//go:build !freebsd

package ibvtest

import (
	"cmp"
	"reflect"
	"slices"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// context is an opened device.
type context struct {
	verbs ibv.VerbsContext // first: C's, at whose end the one is that programs know
	f     *Fabric
	dev   *device
	async asyncEvents
	died  atomic.Bool // its program has: see Device.Crash
}

// gone reports whether nothing can be done any more but to close.
func (c *context) gone() bool { return c.died.Load() || c.dev.gone.Load() }

// equip are what gives contexts their operations. Each file adds its own in func init. What nobody gives them they lack, and
// package ibv says so then.
var equip []func(*ibv.VerbsContext)

func init() {
	symbols["ibv_open_device"] = openDevice
	symbols["ibv_close_device"] = closeDevice
}

// raw is C's.
func (c *context) raw() *ibv.Context { return &c.verbs.Context }

// contextOf is ours around C's.
func contextOf(raw *ibv.Context) *context {
	// Safe: C's is a member of ours.
	return (*context)(unsafe.Add(unsafe.Pointer(raw), -int(unsafe.Offsetof(context{}.verbs)+unsafe.Offsetof(ibv.VerbsContext{}.Context))))
}

// contextAt is contextOf, for an argument.
func contextAt(address uintptr) *context { return contextOf(of[ibv.Context](address)) }

func openDevice(a ccall.Args) (uintptr, syscall.Errno) {
	d := of[device](a[0])
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if d.f.closed {
		return null, syscall.ENODEV
	}
	c := &context{f: d.f, dev: d}
	c.verbs.Sz = uint64(unsafe.Sizeof(c.verbs))
	raw := &c.verbs.Context
	raw.Device, raw.ABICompat = &d.raw, ^uintptr(0)
	if errno := c.async.open(d.f); errno != 0 {
		return null, errno
	}
	raw.CmdFD, raw.AsyncFD, raw.NumCompVectors = -1, c.async.queue.file.fd(), 1
	for _, give := range equip {
		give(&c.verbs)
	}
	d.contexts = append(d.contexts, c)
	d.f.keep(c)
	return address(raw), 0
}

// owned is an object of a context, which ends with it at the latest.
type owned interface {
	opened() *context
	end() // takes it off the device; the lock is held
}

// closeUnused ends an object that a program closes, unless others use it: EBUSY then. The lock is held.
func closeUnused(object owned, uses int) syscall.Errno {
	if uses > 0 {
		return syscall.EBUSY
	}
	object.end()
	object.opened().f.drop(object)
	return 0
}

// closeDevice ends what the program has left open too, the latest first, as the kernel does when the file of a context is
// closed.
func closeDevice(a ccall.Args) (uintptr, syscall.Errno) {
	c := contextAt(a[0])
	c.f.mu.Lock()
	defer c.f.mu.Unlock()
	var left []owned
	for _, kept := range c.f.alive {
		if o, is := kept.object.(owned); is && o.opened() == c {
			left = append(left, o)
		}
	}
	made := func(o owned) int { return c.f.alive[reflect.ValueOf(o).Pointer()].made }
	slices.SortFunc(left, func(a, b owned) int { return cmp.Compare(made(b), made(a)) })
	for _, o := range left {
		o.end()
		c.f.drop(o)
	}
	c.async.queue.end()
	c.async.queue.file.close()
	c.dev.contexts = slices.DeleteFunc(c.dev.contexts, func(other *context) bool { return other == c })
	c.f.drop(c)
	return 0, 0
}
