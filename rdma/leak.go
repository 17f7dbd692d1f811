package rdma

import (
	"cmp"
	"slices"
	"sync"
)

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
	l.lost.Store(true)
	report := l.onLeak
	l.tree.Unlock()
	if report != nil {
		report(leak)
	}
}

// Living is an object that is not closed.
type Living struct {
	Object string // such as "queue pair 0x11 on rxe0"
	Stack  string // what made it, in checked mode
	Lost   bool   // the program has lost its handle: see [Leak]
}

// Alive lists the program's objects that are not closed, of all devices, in the
// order in which they were made: those that the program has handles of, and those
// that it has lost. The list does not keep them from being collected. Any goroutine
// may call it.
func Alive() []Living {
	lives := living.list()
	alive := make([]Living, len(lives))
	for i, l := range lives {
		alive[i] = l.living()
	}
	return alive
}

func (l *life) living() Living {
	l.tree.Lock()
	defer l.tree.Unlock()
	return Living{Object: l.text(), Stack: l.stack.String(), Lost: l.lost.Load()}
}

// living is the lives of all objects that are not closed, so that those are known
// that never are.
var living population

type population struct {
	sync.Mutex
	lives map[*life]struct{}
	tests []*test // those under way that look for leaks
}

func (p *population) add(l *life) {
	p.Lock()
	defer p.Unlock()
	if p.lives == nil {
		p.lives = map[*life]struct{}{}
	}
	p.lives[l] = struct{}{}
	l.tests = p.suspects(l)
}

func (p *population) remove(l *life) {
	p.Lock()
	defer p.Unlock()
	delete(p.lives, l)
}

// list is all of them, the oldest first.
func (p *population) list() []*life {
	p.Lock()
	defer p.Unlock()
	lives := make([]*life, 0, len(p.lives))
	for l := range p.lives {
		lives = append(lives, l)
	}
	slices.SortFunc(lives, func(a, b *life) int { return cmp.Compare(a.number, b.number) })
	return lives
}
