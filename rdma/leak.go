package rdma

// Leak is an object that was never closed, although the program has lost its
// handle. C's object is still there: nothing is destroyed behind a device's back.
// CloseAll of a parent closes it.
type Leak struct {
	Object string // such as "queue pair 0x11 on rxe0"
	Stack  string // what made it, in checked mode
}

// collected takes note that the handle is gone. The collector's own goroutine calls
// it.
func (l *life) collected() {
	l.tree.Lock()
	if l.state == closed {
		l.tree.Unlock()
		return
	}
	leak := Leak{Object: l.text(), Stack: l.stack.String()}
	l.lost = true
	report := l.onLeak
	l.tree.Unlock()
	if report != nil {
		report(leak)
	}
}
