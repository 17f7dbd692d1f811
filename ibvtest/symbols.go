//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/dl"
)

// symbol is a function that libibverbs exports, for objects of ours.
type symbol func(a ccall.Args) (result uintptr, errno syscall.Errno)

// symbols are those that begin with an object, by name. Each file adds its own in func init. What is not here
// is in unsupported.
var symbols = map[string]symbol{}

// global are those that begin with no object, and say themselves whether the call is theirs.
var global = map[string]func(a ccall.Args) (result uintptr, errno syscall.Errno, mine bool){}

func init() {
	ccall.StandIn = func(soname, function string, a ccall.Args) (uintptr, syscall.Errno, bool) {
		if soname != dl.Libibverbs {
			return 0, 0, false
		}
		if fn, is := global[function]; is {
			return fn(a)
		}
		d := deviceOf(a[0])
		if d == nil {
			return 0, 0, false
		}
		fn, is := symbols[function]
		if !is {
			fn = unsupported[function]
		}
		if fn == nil {
			result, errno := failing(manPage(function), syscall.ENOSYS)
			return result, errno, true
		}
		result, errno := d.call(called(function, a), fn, a)
		return result, errno, true
	}
}

// failed is what most functions of C's return when errno has the reason.
const failed = ^uintptr(0)

// minus is the negative of an errno value, which those return that return how many there are.
func minus(errno syscall.Errno) uintptr { return uintptr(-int(errno)) }

// null is NULL, for those that return pointers.
const null = 0

// mark is in what C has no use for any more in struct ibv_device: the number of a served function that nothing calls.
var mark = ccall.Serve(ccall.Served{Name: "a device of ibvtest's", Call: func(ccall.Args) (uintptr, syscall.Errno) {
	return failed, syscall.ENOSYS
}})

// deviceOf is the device of ours that an object is of, or nil. It is a device, a context, or what begins with its context.
func deviceOf(object uintptr) *device {
	// Safe: each of them begins with a pointer: a device with its _ops, a context with its device, all others with their
	// context, which begins with its device, which begins with its _ops.
	for range 3 {
		if object < ccall.FirstCode {
			return nil
		}
		first := *clib.At[uintptr](object)
		if first == mark {
			return of[device](object)
		}
		object = first
	}
	return nil
}

// serve serves a function, for a member that points to it.
func serve(s ccall.Served) ibv.FuncPtr { return ibv.FuncPtr(ccall.Serve(s)) }

// operation serves an operation of a provider's whose first argument is an object of ours.
func operation(name string, fn symbol) ibv.FuncPtr {
	function := manPage(name)
	operationNames = append(operationNames, function)
	return serve(ccall.Served{Name: name, Call: func(a ccall.Args) (uintptr, syscall.Errno) {
		return deviceOf(a[0]).call(function, fn, a)
	}})
}

// call carries out a control verb, by the man page's name, unless it is to fail.
func (d *device) call(name string, fn symbol, a ccall.Args) (result uintptr, errno syscall.Errno) {
	if d.f.hooking.here() {
		errno = syscall.EDEADLK
	} else {
		errno = d.f.callFails(d, name)
	}
	if errno == 0 {
		errno = d.closed(a[0])
	}
	if errno == 0 && !closes(name) {
		if c := d.contextOfObject(a[0]); d.gone.Load() || c != nil && c.gone() {
			errno = syscall.EIO
		}
	}
	if errno != 0 && !cannotFail(name) {
		return failing(name, errno)
	}
	return fn(a)
}

// of is the object of ours that begins with C's struct at an address.
func of[T any](address uintptr) *T { return clib.At[T](address) }

// ofPointer is of, for a pointer.
func ofPointer[T any](object unsafe.Pointer) *T {
	// Safe: ours begin with C's.
	return (*T)(object)
}

// address is what C's pointer to an object is. The collector does not know it: see Fabric.keep.
func address[T any](object *T) uintptr { return uintptr(unsafe.Pointer(object)) }
