package rdma

import (
	"cmp"
	"slices"
	"syscall"
)

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

// early is the kinds that are closed before all others that CloseAll comes to, the
// lowest first, whatever they are made from: windows, for Soft-RoCE waits 50 s for one
// that is bound to a queue pair which is closed, and queues, for their work requests
// name regions and addresses.
var early = map[string]int{"memory window": -2, "queue pair": -1, "shared receive queue": -1}

// closingOrder is what CloseAll closes before the object, in that order: of all that
// needs it what is early, and then the children.
func (l *life) closingOrder() (order []*life) {
	for d := range l.descendants() {
		if early[d.kind] < 0 {
			order = append(order, d)
		}
	}
	slices.SortFunc(order, func(a, b *life) int {
		return cmp.Or(cmp.Compare(early[a.kind], early[b.kind]), cmp.Compare(b.number, a.number))
	})
	return append(order, l.youngestFirst()...)
}

// descendants is the children, and theirs.
func (l *life) descendants() map[*life]struct{} {
	all := map[*life]struct{}{}
	var down func(l *life)
	down = func(l *life) {
		for child := range l.children {
			if _, again := all[child]; !again {
				all[child] = struct{}{}
				down(child)
			}
		}
	}
	down(l)
	return all
}

func (l *life) youngestFirst() []*life {
	children := make([]*life, 0, len(l.children))
	for child := range l.children {
		children = append(children, child)
	}
	slices.SortFunc(children, func(a, b *life) int { return cmp.Compare(b.number, a.number) })
	return children
}

// takesChildren is the error of making something from an object that is not open,
// or is about to be closed with its children.
func (l *life) takesChildren(op string) error {
	if l.state == open && l.closingAll > 0 {
		return l.closingError(op)
	}
	return l.closedIf(op)
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
