//go:build !freebsd

package ibvtest

import (
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() {
	ccall.Ready = func(object unsafe.Pointer) <-chan struct{} {
		if _, ready := eventsOf(object); ready != nil {
			return ready
		}
		return nil
	}
	ccall.Nonblock = func(object unsafe.Pointer, nonblocking bool) bool {
		file, _ := eventsOf(object)
		if file != nil {
			file.setNonblock(nonblocking)
		}
		return file != nil
	}
}

// eventsOf is where events of a completion channel or a context come, if that is of ours.
func eventsOf(object unsafe.Pointer) (*eventFile, <-chan struct{}) {
	d := deviceOf(uintptr(object))
	if d == nil {
		return nil, nil
	}
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if *(**ibv.Device)(object) == &d.raw { // safe: a context begins with its device, and a channel with its context
		c := contextOf((*ibv.Context)(object))
		return &c.async.queue.file, c.async.queue.ready
	}
	ch := ofPointer[channel](object)
	return &ch.events.file, ch.events.ready
}
