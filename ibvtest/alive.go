//go:build !freebsd

package ibvtest

import (
	"reflect"
	"syscall"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
)

// kept is an object that the fabric keeps, with when it was made.
type kept struct {
	object any
	made   int
}

// keep keeps an object that programs know by its address alone, until drop. The lock is held.
func (f *Fabric) keep(object any) {
	f.kept++
	f.alive[reflect.ValueOf(object).Pointer()] = kept{object, f.kept}
}

func (f *Fabric) drop(object any) { delete(f.alive, reflect.ValueOf(object).Pointer()) }

// among is the object at an address that a program names in attributes, or nil if the context has no such object: it may
// be closed, another context's, or something else. The lock is held.
func among[T any](c *context, at uintptr) *T {
	object, _ := c.f.alive[at].object.(*T)
	if object == nil || any(object).(owned).opened() != c {
		return nil
	}
	return object
}

// contextOfObject is the context that an object is of or is, or nil of a device.
func (d *device) contextOfObject(object uintptr) *context {
	switch first := *clib.At[uintptr](object); first { // safe: see deviceOf
	case mark:
		return nil
	case address(&d.raw):
		return contextAt(object)
	default:
		return contextAt(first)
	}
}

// closed is the reason why nothing can be done with an object, if a program has closed it, or what it was made from.
func (d *device) closed(object uintptr) syscall.Errno {
	switch *clib.At[uintptr](object) { // safe: see deviceOf
	case mark:
		return 0
	case address(&d.raw):
		object = address(contextOf(of[ibv.Context](object)))
	}
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if _, is := d.f.alive[object]; !is {
		return syscall.EINVAL
	}
	return 0
}
