package rdma

import (
	"cmp"
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"weak"
)

// Object is what all handles are: a device, what is made from it, and rings. Each
// has parents, which it is made from and needs, and is their child.
type Object interface {
	// Close ends the object. It is an error, and changes nothing, while it has
	// children: a [ChildrenError] names them. A second Close is [ErrClosed] and does
	// nothing. When C refuses to destroy the object, the error says why, the object
	// stays as it was, and Close can be tried again.
	Close() error
	// CloseAll closes the children, theirs before them, the newest first, and then the
	// object itself. What cannot be closed stays, with all that it needs; the error
	// has all reasons. What is closed already is no error.
	CloseAll() error
	// String says what the object is: its kind, its number and its device.
	String() string

	lifetime() *life
}

// life is the lifetime of an object, written once for all kinds. It knows parents
// and children, and C's object, but not the handle, which the collector takes when
// the program has lost it: then the life knows of the leak.
type life struct {
	// Fixed once the object is made.
	kind    string
	number  uint64 // the order in which objects were made
	tree    *sync.Mutex
	parents []*life
	stack   stack // what made it, in checked mode

	// Guarded by tree.
	name     string
	state    state
	children map[*life]struct{}
	destroy  func() error // C's, or nil if it is somebody else's
	retire   func() (revive func())
	closedBy stack
	lost     bool // the handle was collected
	device   *life
	onLeak   func(Leak)
}

// state is how far an object's life has come.
type state int

const (
	making state = iota
	open
	closing
	closed
)

var (
	made atomic.Uint64
	// alive has every object that is not closed, so that those are known that are
	// never closed.
	alive   = map[*life]struct{}{}
	aliveMu sync.Mutex
)

// begin starts the life of an object that is about to be made, so that none of its
// parents can be closed meanwhile. Nil parents are left out. It ends with abandon
// or live. The error says that a parent is closed, or that parents are of different
// devices.
func begin(kind string, parents ...Object) (*life, error) {
	l := &life{kind: kind, number: made.Add(1), children: map[*life]struct{}{}, stack: callers()}
	for _, p := range parents {
		if p == nil {
			continue
		}
		parent := p.lifetime()
		if l.tree == nil {
			l.tree, l.device, l.onLeak = parent.tree, parent.device, parent.onLeak
		}
		if l.tree != parent.tree {
			return nil, &Error{Op: "make a " + kind, On: parent.device.text(), Err: syscall.EINVAL, Hint: "what it is made from belongs to different devices"}
		}
		l.parents = append(l.parents, parent)
	}
	if l.tree == nil { // a device
		l.tree, l.device = new(sync.Mutex), l
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	for _, parent := range l.parents {
		if parent.state != open {
			return nil, parent.closedError("make a " + kind + " from")
		}
	}
	for _, parent := range l.parents {
		parent.children[l] = struct{}{}
	}
	return l, nil
}

// abandon ends a life that has not begun.
func (l *life) abandon() {
	l.tree.Lock()
	defer l.tree.Unlock()
	l.state = closed
	l.leaveParents()
}

// adopt makes a child of the parent too, so that the parent is closed later.
func (l *life) adopt(parent *life) error {
	l.tree.Lock()
	defer l.tree.Unlock()
	if l.state != open || parent.state != open {
		return errors.Join(l.closedIf("use"), parent.closedIf("use"))
	}
	l.parents = append(l.parents, parent)
	parent.children[l] = struct{}{}
	return nil
}

// live is the object made: name tells it apart, such as 0x11, destroy is C's
// function, and handle is what the program holds. retire has the handle's hot calls
// return an error from then on, and returns what takes that back; it must not be a
// closure that holds the handle.
func live[T any](l *life, handle *T, name string, destroy func() error, retire func(handle *T) (revive func())) {
	w := weak.Make(handle)
	l.tree.Lock()
	defer l.tree.Unlock()
	l.name, l.destroy, l.state = name, destroy, open
	l.retire = func() func() {
		if h := w.Value(); h != nil && retire != nil {
			return retire(h)
		}
		return func() {}
	}
	aliveMu.Lock()
	alive[l] = struct{}{}
	aliveMu.Unlock()
	runtime.AddCleanup(handle, (*life).collected, l)
}

// close is Close of all objects.
func (l *life) close() error {
	l.tree.Lock()
	if err := l.closedIf("close"); err != nil {
		l.tree.Unlock()
		return err
	}
	if len(l.children) > 0 {
		err := l.childrenError()
		l.tree.Unlock()
		return err
	}
	l.state = closing
	revive := l.retire()
	l.tree.Unlock() // C may wait

	var err error
	if l.destroy != nil {
		err = l.destroy()
	}

	l.tree.Lock()
	defer l.tree.Unlock()
	if err != nil {
		l.state = open
		revive()
		return err
	}
	l.state, l.closedBy = closed, callers()
	l.destroy, l.retire = nil, nil // with what they hold
	l.leaveParents()
	aliveMu.Lock()
	delete(alive, l)
	aliveMu.Unlock()
	return nil
}

// closeAll is CloseAll of all objects.
func (l *life) closeAll() error {
	var errs []error
	for {
		l.tree.Lock()
		children := l.youngestFirst()
		l.tree.Unlock()
		before := len(errs)
		for _, child := range children {
			if err := child.closeAll(); err != nil && !errors.Is(err, ErrClosed) {
				errs = append(errs, err)
			}
		}
		if len(children) == 0 || len(errs) > before {
			break
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	return l.close()
}

// leaveParents takes the object off its parents' children.
func (l *life) leaveParents() {
	for _, parent := range l.parents {
		delete(parent.children, l)
	}
}

func (l *life) youngestFirst() []*life {
	children := make([]*life, 0, len(l.children))
	for child := range l.children {
		children = append(children, child)
	}
	slices.SortFunc(children, func(a, b *life) int { return cmp.Compare(b.number, a.number) })
	return children
}

// closedIf is the error of doing something with an object that is not open.
func (l *life) closedIf(op string) error {
	if l.state == open {
		return nil
	}
	return l.closedError(op)
}

func (l *life) closedError(op string) error {
	e := &Error{Op: op, On: l.text(), Err: ErrClosed, made: l.stack, closed: l.closedBy}
	if l.state == closing {
		e.Err, e.Hint = syscall.EBUSY, "another goroutine is closing it"
	}
	return e
}

func (l *life) childrenError() error {
	e := &ChildrenError{Object: l.text()}
	for _, child := range l.youngestFirst() {
		e.Children = append(e.Children, child.text())
	}
	return e
}

// text says what the object is.
func (l *life) text() string {
	text := l.kind
	if l.name != "" {
		text += " " + l.name
	}
	if l.device != l && l.device != nil {
		text += " on " + l.device.name
	}
	if l.lost {
		text += " (lost: nothing refers to its handle)"
	}
	return text
}

// failed is the error of an operation on the object.
func (l *life) failed(op string, err error, hint string) error {
	return &Error{Op: op, On: l.text(), Err: err, Hint: hint}
}

// check is the error of doing something with an object that is not open, or nil.
func (l *life) check(op string) error {
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.closedIf(op)
}
