//go:build !freebsd

package ibvtest

import (
	"bytes"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
)

// lock is a fabric's. What is put off until it is let go of, such as what a hook has happen, is done then.
type lock struct {
	sync.Mutex
	later []func()
}

func (l *lock) Unlock() {
	for len(l.later) > 0 {
		do := l.later[0]
		l.later = l.later[1:]
		do()
	}
	l.Mutex.Unlock()
}

// hooking is the goroutine whose hook runs, which holds the fabric's lock, or 0.
type hooking struct{ goroutine atomic.Int64 }

// enter is for before hooks, and leave for behind them, however they end.
func (h *hooking) enter() (leave func()) {
	h.goroutine.Store(goroutine())
	return func() { h.goroutine.Store(0) }
}

// here reports whether this goroutine is in a hook of the fabric's. It is cheap while there is none.
func (h *hooking) here() bool {
	running := h.goroutine.Load()
	return running != 0 && running == goroutine()
}

// lock holds the fabric's lock, which a hook holds already.
func (f *Fabric) lock() (unlock func()) {
	if f.hooking.here() {
		return func() {}
	}
	f.mu.Lock()
	return f.mu.Unlock
}

// soon does something while the lock is held: now, or, in a hook, once the verb is over that the hook is of. The lock is held.
func (f *Fabric) soon(do func()) {
	if f.hooking.here() {
		f.mu.later = append(f.mu.later, do)
		return
	}
	do()
}

// goroutine is the number of this one, which traces tell.
func goroutine() int64 {
	var buffer [64]byte
	_, rest, _ := bytes.Cut(buffer[:runtime.Stack(buffer[:], false)], []byte(" "))
	number, _, _ := bytes.Cut(rest, []byte(" "))
	n, _ := strconv.ParseInt(string(number), 10, 64)
	return n
}
