package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"weak"

	"github.com/goverbs/goverbs/ibv"
)

// Object is what all handles are: a device, what is made from it, and rings. Each
// has parents, which it is made from and needs, and is their child. Handles are
// pointers that this package makes; a nil one, or the zero value of its type, gives
// errors that say so, except that what answers without an error, such as Raw, and
// posts and polls panic as any nil pointer does. Any goroutine may call these
// methods, and several at once. A finalizer of a handle may close it, and must not
// use it otherwise: what is closed then, or before it, does not know the handle.
type Object interface {
	// Close ends the object. It is an error, and changes nothing, while it has
	// children: a [ChildrenError] names them. A second Close is [ErrClosed] and does
	// nothing. When C refuses to destroy the object, the error says why, the object
	// stays as it was, and Close can be tried again.
	//
	// Close waits for calls that ask the object or change it, such as Query and
	// Modify, and for another Close of it, so that one of them destroys it and the
	// others are ErrClosed. It does not wait for posts and polls, which ask nobody:
	// whoever closes sees to it that none is under way.
	Close() error
	// CloseAll closes the children, theirs before them, the newest first, and then the
	// object itself. It tries each once. What cannot be closed stays, with all that it
	// needs; the error has all reasons, and CloseAll can be tried again. What is closed
	// already is no error, not even the object itself. Until CloseAll returns, nothing
	// new can be made from what it has come to; it waits for what is being made.
	CloseAll() error
	// String says what the object is: its kind, its number and its device. It works
	// after Close, too.
	String() string

	lifetime() *life
}

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

// lifeOf is the life of an object, or nil if there is none.
func lifeOf(o Object) *life {
	if o == nil {
		return nil
	}
	if v := reflect.ValueOf(o); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil
	}
	return o.lifetime()
}

// abandon ends a life that has not begun.
func (l *life) abandon() {
	l.tree.Lock()
	defer l.tree.Unlock()
	l.ended()
}

// adopt makes a child of the parent too, so that the parent is closed later.
func (l *life) adopt(parent *life) error {
	const op = "have it close before another,"
	if l == nil || parent == nil {
		return noHandle(op)
	}
	if l.tree != parent.tree {
		return differentDevices(op, l.device, parent.device)
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	if err := l.closedIf(op); err != nil {
		return err
	}
	if err := parent.takesChildren(op); err != nil {
		return err
	}
	if parent.needs(l) {
		return &Error{Op: op, On: l.text(), Err: syscall.EINVAL, Hint: "the other, " + parent.text() + ", closes before it already"}
	}
	if !slices.Contains(l.parents, parent) {
		l.parents = append(l.parents, parent)
		parent.children[l] = struct{}{}
	}
	return nil
}

// leave takes that back: the parent can be closed while the object is open.
func (l *life) leave(parent *life) {
	l.tree.Lock()
	defer l.tree.Unlock()
	delete(parent.children, l)
	l.parents = slices.DeleteFunc(l.parents, func(p *life) bool { return p == parent })
}

// needs reports whether the object is other, or is made from it.
func (l *life) needs(other *life) bool {
	seen := map[*life]struct{}{}
	var up func(l *life) bool
	up = func(l *life) bool {
		if l == other {
			return true
		}
		if _, again := seen[l]; again {
			return false
		}
		seen[l] = struct{}{}
		return slices.ContainsFunc(l.parents, up)
	}
	return up(l)
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

// close is Close of all objects.
func (l *life) close() error {
	if l == nil {
		return noHandle("close")
	}
	l.tree.Lock()
	l.settle()
	err := l.closedIf("close")
	if err == nil && len(l.children) > 0 {
		err = l.childrenError()
	}
	if err != nil {
		l.tree.Unlock()
		return err
	}
	return l.end()
}

// settle waits until nobody is making or closing the object.
func (l *life) settle() {
	for l.state == making || l.state == closing {
		l.tree.changed.Wait()
	}
}

// end closes the object, which is open and has no children. The tree is locked
// before, and not afterwards.
func (l *life) end() (err error) {
	l.state = closing
	destroy, retire := l.destroy, l.retire
	l.tree.Unlock() // C may wait, and so may those who use the object

	revive := retire()
	l.acknowledgeAll()
	destroyed := false // not if destroy panics, or ends its goroutine
	defer func() {
		if !destroyed {
			revive()
		}
		l.tree.Lock()
		defer l.tree.Unlock()
		if destroyed {
			l.closedBy = callers()
			l.ended()
			living.remove(l)
			return
		}
		l.state = open
		l.tree.changed.Broadcast()
	}()
	l.tree.Lock()
	for l.uses > 0 {
		l.tree.changed.Wait()
	}
	l.tree.Unlock()
	if destroy != nil {
		err = destroy()
	}
	destroyed = err == nil
	return err
}

// ended takes the object out of the tree, with all that it holds.
func (l *life) ended() {
	for _, parent := range l.parents {
		delete(parent.children, l)
	}
	l.state = closed
	l.notSubject()
	l.parents, l.children, l.destroy, l.retire, l.onLeak = nil, nil, nil, nil, nil
	l.tree.changed.Broadcast()
}

// closeAll is CloseAll of all objects.
func (l *life) closeAll() error {
	if l == nil {
		return noHandle("close")
	}
	c := closer{kept: map[*life]struct{}{}}
	c.close(l)
	if len(c.errs) == 1 {
		return c.errs[0]
	}
	return errors.Join(c.errs...)
}

// closer is a CloseAll under way.
type closer struct {
	kept map[*life]struct{} // what could not be closed, which has perhaps several parents
	errs []error
}

// close closes the object after its children, and reports whether it is closed.
func (c *closer) close(l *life) bool {
	if _, kept := c.kept[l]; kept {
		return false
	}
	l.tree.Lock()
	l.closingAll++
	defer func() {
		l.tree.Lock()
		defer l.tree.Unlock()
		l.closingAll--
	}()
	l.settle()
	// Once more around is enough, for nobody makes more children meanwhile.
	for l.state != closed && len(l.children) > 0 {
		children := l.youngestFirst()
		l.tree.Unlock()
		gone := true
		for _, child := range children {
			gone = c.close(child) && gone
		}
		if !gone {
			c.kept[l] = struct{}{}
			return false
		}
		l.tree.Lock()
		l.settle()
	}
	if l.state == closed {
		l.tree.Unlock()
		return true
	}
	if err := l.end(); err != nil {
		c.errs = append(c.errs, err)
		c.kept[l] = struct{}{}
		return false
	}
	return true
}

func (l *life) youngestFirst() []*life {
	children := make([]*life, 0, len(l.children))
	for child := range l.children {
		children = append(children, child)
	}
	slices.SortFunc(children, func(a, b *life) int { return cmp.Compare(b.number, a.number) })
	return children
}

// check is the error of doing something with an object that is not open, or nil.
func (l *life) check(op string) error {
	if l == nil {
		return noHandle(op)
	}
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.closedIf(op)
}

// closedIf is check, with the tree locked.
func (l *life) closedIf(op string) error {
	switch l.state {
	case open:
		return nil
	case closed:
		return &Error{Op: op, On: l.text(), Err: ErrClosed, made: l.stack, closed: l.closedBy}
	default:
		return l.closingError(op)
	}
}

// takesChildren is the error of making something from an object that is not open,
// or is about to be closed with its children.
func (l *life) takesChildren(op string) error {
	if l.state == open && l.closingAll > 0 {
		return l.closingError(op)
	}
	return l.closedIf(op)
}

func (l *life) closingError(op string) error {
	return &Error{Op: op, On: l.text(), Err: errClosing, made: l.stack}
}

func (l *life) childrenError() error {
	e := &ChildrenError{Object: l.text()}
	for _, child := range l.youngestFirst() {
		text := child.text()
		if child.state == making {
			text += " (being made)"
		}
		e.Children = append(e.Children, text)
	}
	return e
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

// failed is the error of an operation on the object.
func (l *life) failed(op string, err error, hint string) error {
	return &Error{Op: op, On: l.text(), Err: err, Hint: hint}
}

// noHandle is the error of doing something with a handle that is nil or zero.
func noHandle(op string) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: "the handle is nil, or was not made by this package"}
}

// noRaw is the error of adopting nothing.
func noRaw(op string) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: "C's object is nil"}
}

func differentDevices(op string, a, b *life) error {
	return &Error{Op: op, Err: syscall.EINVAL, Hint: fmt.Sprintf("what it takes belongs to different openings of devices: %s and %s", a.text(), b.text())}
}
