package rdma

import (
	"fmt"
	"strings"
	"sync"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// checks is what checked mode knows of the program's objects and of the work that is
// outstanding. It knows lives and C's objects, but no handles, so that those can be
// lost. Its lock is held during the calls of C's posts and polls, so that what it
// knows has the order that the provider has. Who holds it takes no other lock of
// this package's but those in checkbusy.go.
var checks checker

type checker struct {
	sync.Mutex
	regions    map[uint32][]*checkedRegion // that are open, by lkey
	gone       lately[uint32, *checkedRegion]
	handles    map[uintptr]*checkedAH // that are open, by address
	goneAHs    lately[uintptr, *checkedAH]
	queuePairs map[queuePairKey]*checkedQP
	memory     memoryInUse
}

// queuePairKey is what a completion has of its queue pair, and the device.
type queuePairKey struct {
	device *life
	number uint32
}

// expose takes note that the program has C's object, and others that it works with.
// With them, it can do everything behind the handles' backs, and is not accused of what
// may be right then. What is not named here stays certain: C's object leads to its
// protection domain, too, but who makes regions in that has it from its handle.
func (l *life) expose(others ...*life) {
	if !checked || l == nil {
		return
	}
	l.exposed.Store(true)
	for _, other := range others {
		if other != nil {
			other.exposed.Store(true)
		}
	}
}

// mistake is what a call was refused for, found with the lock held.
type mistake struct {
	errno  syscall.Errno
	text   string
	others []trace
}

// trace is where something happened that a mistake has to do with.
type trace struct {
	what string
	at   stack
	of   *life // whose making and closing, in place of what and at
}

// wrong is a mistake in what was asked for.
func wrong(format string, args ...any) *mistake {
	return &mistake{errno: syscall.EINVAL, text: fmt.Sprintf(format, args...)}
}

// with adds the making and closing of an object.
func (m *mistake) with(l *life) *mistake {
	m.others = append(m.others, trace{of: l})
	return m
}

// doneAt adds where something else was done.
func (m *mistake) doneAt(what string, at stack) *mistake {
	m.others = append(m.others, trace{what: what, at: at})
	return m
}

// error is the error of an operation on an object. The lock is not held, for lives
// have their own.
func (m *mistake) error(op string, on *life) error {
	e := &Error{Op: op, On: on.text(), Err: m.errno, Hint: m.text, made: on.stack}
	var b strings.Builder
	for _, o := range m.others {
		if o.of == nil {
			fmt.Fprintf(&b, "\n%s by\n%v", o.what, o.at)
			continue
		}
		fmt.Fprintf(&b, "\n%s made by\n%v", o.of.text(), o.of.stack)
		if closedBy := o.of.whereClosed(); closedBy != nil {
			fmt.Fprintf(&b, "\n%s closed by\n%v", o.of.text(), closedBy)
		}
	}
	e.others = b.String()
	return e
}

// whereClosed is what closed the object, in checked mode, or nil.
func (l *life) whereClosed() stack {
	l.tree.Lock()
	defer l.tree.Unlock()
	return l.closedBy
}

// request is a work request as the checks see it, of a chain or of a batch.
type request struct {
	index     int // in the chain or batch
	wrID      uint64
	opcode    ibv.WROpcode // of a send
	flags     ibv.SendFlags
	sges      []ibv.SGE
	inline    bool
	inlined   uint64  // how many bytes, if inline
	ah        uintptr // of a send on UD
	remoteQPN uint32
}

// wrong is a mistake in the work request.
func (r *request) wrong(format string, args ...any) *mistake {
	return wrong("work request %d (WRID %#x) %s", r.index, r.wrID, fmt.Sprintf(format, args...))
}

// length is how many bytes the message has.
func (r *request) length() uint64 {
	if r.inline {
		return r.inlined
	}
	length := uint64(0)
	for i := range r.sges {
		length += uint64(r.sges[i].Length)
	}
	return length
}
