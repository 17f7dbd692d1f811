package rdma

import (
	"fmt"
	"slices"
	"strings"
)

// TB is what NoLeaks needs of a test: a *testing.T is one.
type TB interface {
	Helper()
	Name() string
	Cleanup(func())
	Errorf(format string, args ...any)
}

// test is one that looks for leaks.
type test struct{ name string }

// NoLeaks fails the test if objects that are made from now on are not closed when it
// ends, whether their handles are collected or not. In checked mode it says where
// they were made. Call it first: cleanups run in reverse, so this one comes after
// those that close.
//
// Tests that run in parallel, and call NoLeaks too, are not blamed for each other's
// objects. What is made while several of them run is judged when the last one ends,
// and that one names them all; but what is made from a device is judged with those
// that ran when the device was opened, as far as they still run. A test that does
// not call NoLeaks, and runs beside one that does, must close what it makes before
// that one ends.
func NoLeaks(t TB) {
	t.Helper()
	this := &test{name: t.Name()}
	living.begin(this)
	t.Cleanup(func() {
		t.Helper()
		lost := living.end(this)
		if len(lost) == 0 {
			return
		}
		var b strings.Builder
		for _, l := range lost {
			was := l.living()
			fmt.Fprintf(&b, "\n%s", was.Object)
			if others := l.otherTests(this); len(others) > 0 {
				fmt.Fprintf(&b, ", made by this test, or by %s, which ran at the same time", strings.Join(others, " or "))
			}
			if was.Stack != "" {
				fmt.Fprintf(&b, ", made by\n%s", was.Stack)
			}
		}
		if !checked {
			b.WriteString("\nwith GOVERBS_CHECK=1 this says where they were made")
		}
		t.Errorf("rdma: %d objects were not closed:%s", len(lost), b.String())
	})
}

func (p *population) begin(t *test) {
	p.Lock()
	defer p.Unlock()
	p.tests = append(p.tests, t)
}

// suspects is the tests that may have made an object, now.
func (p *population) suspects(l *life) []*test {
	var suspects []*test
	for _, t := range p.tests {
		if slices.Contains(l.device.tests, t) {
			suspects = append(suspects, t)
		}
	}
	if len(suspects) == 0 {
		suspects = slices.Clone(p.tests)
	}
	return suspects
}

// end ends a test, and is the objects that only this test can close still.
func (p *population) end(t *test) []*life {
	lives := p.list()
	p.Lock()
	defer p.Unlock()
	p.tests = slices.DeleteFunc(p.tests, func(other *test) bool { return other == t })
	return slices.DeleteFunc(lives, func(l *life) bool {
		_, alive := p.lives[l]
		return !alive || !slices.Contains(l.tests, t) ||
			slices.ContainsFunc(l.tests, func(other *test) bool { return slices.Contains(p.tests, other) })
	})
}

// otherTests is the names of the tests besides this that may have made the object.
func (l *life) otherTests(this *test) []string {
	var names []string
	for _, t := range l.tests {
		if t != this {
			names = append(names, t.name)
		}
	}
	return names
}
