package rdma

import "errors"

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
		children := l.closingOrder()
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
