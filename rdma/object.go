package rdma

import "reflect"

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
	// CloseAll closes the children, theirs before them, and then the object itself: of
	// all these memory windows first, which may be bound to queue pairs, then queue pairs
	// and shared receive queues, whose work requests name others, and of each the newest
	// first. It tries each once. What cannot be closed stays, with all that it needs; the
	// error has all reasons, and CloseAll can be tried again. What is closed already is
	// no error, not even the object itself. Until CloseAll returns, nothing new can be
	// made from what it has come to; it waits for what is being made.
	CloseAll() error
	// String says what the object is: its kind, its number and its device. It works
	// after Close, too.
	String() string

	lifetime() *life
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
