package rdma

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"weak"

	"github.com/goverbs/goverbs/ibv"
)

// life is the lifetime of an object, written once for all kinds. It knows parents
// and children, and C's object, but not the handle, which the collector takes when
// the program has lost it: then the life knows of the leak. A nil life is that of
// no handle: its methods return errors.
type life struct {
	// Fixed once the object is made.
	kind   string
	name   string
	number uint64 // the order in which objects were made
	tree   *tree
	device *life
	stack  stack // what made it, in checked mode
	tests  []*test
	// context is C's device, of a device's life.
	context *ibv.Context

	lost    atomic.Bool // the handle was collected
	exposed atomic.Bool // the program was given C's object, in checked mode

	// Guarded by tree.
	state      state
	parents    []*life
	children   map[*life]struct{}
	uses       int          // calls under way that need the object
	closingAll int          // CloseAlls under way that have come to the object
	destroy    func() error // C's, or nil if it is somebody else's
	retire     func() (revive func())
	closedBy   stack
	onLeak     func(Leak)
	events     subject
}

// tree is what the lives of a device and of everything made from it have in
// common. It is never locked while C is called.
type tree struct {
	sync.Mutex
	changed  sync.Cond         // a state, or uses became 0
	subjects map[uintptr]*life // of events, by number
}

// state is how far an object's life has come.
type state int

const (
	making state = iota
	open
	closing
	closed
)

// made counts the objects that there ever were.
var made atomic.Uint64

// begin starts the life of an object that is about to be made, so that none of its
// parents can be closed meanwhile. Parents that are a plain nil are left out. It
// ends with abandon or live, on any goroutine; until then, nobody on the way there
// may call CloseAll of a parent, which waits for it. The error says that a parent is
// no object, or closed, or that parents are of different devices.
func begin(kind string, parents ...Object) (*life, error) {
	op := "make " + kind
	l := &life{kind: kind, number: made.Add(1), children: map[*life]struct{}{}, stack: callers()}
	for _, p := range parents {
		if p == nil {
			continue
		}
		parent := lifeOf(p)
		if parent == nil {
			return nil, &Error{Op: op, Err: syscall.EINVAL, Hint: fmt.Sprintf("a %T that it is made from is nil, or was not made by this package", p)}
		}
		if l.tree == nil {
			l.tree, l.device = parent.tree, parent.device
		}
		if l.tree != parent.tree {
			return nil, differentDevices(op, l.device, parent.device)
		}
		if !slices.Contains(l.parents, parent) {
			l.parents = append(l.parents, parent)
		}
	}
	if len(l.parents) == 0 {
		if len(parents) > 0 {
			return nil, &Error{Op: op, Err: syscall.EINVAL, Hint: "what it is made from is nil"}
		}
		l.tree, l.device = new(tree), l
		l.tree.changed.L = l.tree
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	for _, parent := range l.parents {
		if err := parent.takesChildren(op + " from"); err != nil {
			return nil, err
		}
	}
	for _, parent := range l.parents {
		parent.children[l] = struct{}{}
	}
	l.onLeak = l.device.onLeak
	return l, nil
}

// beginAdopted is begin for what something else has made, which context finds the
// device of.
func beginAdopted[T any](kind string, raw *T, context func(*T) *ibv.Context, parents ...Object) (*life, error) {
	op := "adopt " + kind
	if raw == nil {
		return nil, noRaw(op)
	}
	l, err := begin(kind, parents...)
	if err != nil {
		return nil, err
	}
	if context(raw) != l.device.context {
		l.abandon()
		return nil, &Error{Op: op, On: l.device.text(), Err: syscall.EINVAL, Hint: "it belongs to another opening of a device"}
	}
	return l, nil
}

// abandon ends a life that has not begun, and does nothing to one that has. Whoever
// begins one defers it: what makes the object may panic, or end its goroutine.
func (l *life) abandon() {
	l.tree.Lock()
	defer l.tree.Unlock()
	if l.state == making {
		l.ended()
	}
}

// live is the object made: name tells it apart, such as 0x11, destroy is C's
// function, and handle is what the program holds. retire has the handle's hot calls
// return an error from then on, wakes who waits for the object, and returns what
// takes that back; it must not be a closure that holds the handle. Both run while the
// object is closing, and destroy runs between them, if it fails.
func live[T any](l *life, handle *T, name string, destroy func() error, retire func(handle *T) (revive func())) {
	w := weak.Make(handle)
	l.tree.Lock()
	defer l.tree.Unlock()
	l.name, l.destroy, l.state = name, destroy, open
	l.retire = func() func() {
		if h := w.Value(); h != nil && retire != nil {
			return retire(h)
		}
		return func() {} // nobody can call a handle that is gone
	}
	l.events.handle = func() any {
		if h := w.Value(); h != nil {
			return h
		}
		return nil
	}
	living.add(l)
	runtime.AddCleanup(handle, (*life).collected, l)
	l.tree.changed.Broadcast()
}

// during calls f, which needs the object open: Close waits for it. So f must end by
// itself, and must neither close the object nor call what could.
func (l *life) during(op string, f func() error) error {
	if l == nil {
		return noHandle(op)
	}
	l.tree.Lock()
	err := l.closedIf(op)
	if err == nil {
		l.uses++
	}
	l.tree.Unlock()
	if err != nil {
		return err
	}
	defer func() {
		l.tree.Lock()
		defer l.tree.Unlock()
		if l.uses--; l.uses == 0 {
			l.tree.changed.Broadcast()
		}
	}()
	return f()
}

// ask is during for an f with an answer.
func ask[T any](l *life, op string, f func() (T, error)) (answer T, err error) {
	err = l.during(op, func() error {
		answer, err = f()
		return err
	})
	return answer, err
}

// text says what the object is. Whoever has the handle may call it, or has locked
// the tree.
func (l *life) text() string {
	if l == nil {
		return "no object (a handle that is nil, or was not made by package rdma)"
	}
	text := l.kind
	if l.name != "" {
		text += " " + l.name
	}
	if l.device != l {
		text += " on " + l.device.name
	}
	if l.lost.Load() {
		text += " (lost: nothing refers to its handle)"
	}
	return text
}
