package rdma

import (
	"fmt"
	"io"
	"reflect"
	"strings"
	"syscall"
)

// Owned is the handle of an object that this package has no type for: a flow, an XRC
// domain, a work queue, a memory window, counters, whatever a provider's library
// makes. It takes part in the lifetimes as the others do. [Own] makes it.
type Owned[T io.Closer] struct {
	_ noCopy

	raw T
	l   *life
}

// Own makes an object by calling create, and gives it a lifetime: none of the
// parents can be closed before it, while create runs neither, and CloseAll of a
// parent calls raw's Close. parents are what it is made from and needs, one at
// least; nil ones are left out, as they are for all objects. kind is what errors
// call it, such as "flow". They add what raw's String says after create, if it has
// one.
//
// Own returns create's error as it is. It does not call create when a parent is
// closed. After an error, nothing is left that has to be closed, unless create
// itself leaves it. Parents are of one device, and CloseAll must not be called of
// them in create. The caller closes the object.
//
//	flow, err := rdma.Own("flow", func() (*ibv.Flow, error) { return qp.Raw().CreateFlow(attr) }, qp)
func Own[T io.Closer](kind string, create func() (T, error), parents ...Object) (*Owned[T], error) {
	if len(parents) == 0 {
		return nil, &Error{Op: "own " + kind, Err: syscall.EINVAL, Hint: "say what it is made from: its device, at least"}
	}
	l, err := begin(kind, parents...)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := create()
	if err != nil {
		return nil, err
	}
	if v := reflect.ValueOf(raw); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, noRaw("own " + kind)
	}
	o := &Owned[T]{raw: raw, l: l}
	live(l, o, nameOf(kind, raw), raw.Close, nil)
	return o, nil
}

// nameOf tells an object from others of its kind, by what it says itself.
func nameOf(kind string, raw any) string {
	s, ok := raw.(fmt.Stringer)
	if !ok {
		return ""
	}
	text := s.String()
	if rest, ok := strings.CutPrefix(text, kind+" "); ok {
		return rest
	}
	return "(" + text + ")"
}

// Raw is the object itself, valid until Close.
func (o *Owned[T]) Raw() T { return o.raw }

// Do calls f with the object, and returns its error. Close waits for f, so f must
// end by itself and must not close the object. After Close, Do returns an error that
// is [ErrClosed]; op is what it says was attempted. Any goroutine may call it.
func (o *Owned[T]) Do(op string, f func(raw T) error) error {
	return o.lifetime().during(op, func() error { return f(o.raw) })
}

// Close closes the object: see [Object].
func (o *Owned[T]) Close() error { return o.lifetime().close() }

// CloseAll closes the object and what needs it: see [Object].
func (o *Owned[T]) CloseAll() error { return o.lifetime().closeAll() }

// String is the kind, what the object says of itself, and the device.
func (o *Owned[T]) String() string { return o.lifetime().text() }

func (o *Owned[T]) lifetime() *life {
	if o == nil {
		return nil
	}
	return o.l
}
