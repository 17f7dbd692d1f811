package rdma

import (
	"fmt"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"weak"

	"github.com/stretchr/testify/require"
)

// collect runs the collector until done, for a while.
func collect(t *testing.T, done func() bool) {
	t.Helper()
	require.Eventually(t, func() bool { runtime.GC(); return done() }, time.Minute, time.Millisecond)
}

// checkedMode has the test run in checked mode, or not.
func checkedMode(t *testing.T, on bool) {
	before := checked
	checked = on
	t.Cleanup(func() { checked = before })
}

// leakTo is a device that tells of its leaks, on a channel, so that it is the only
// handle that is held.
func leakTo(t *testing.T, leaks chan Leak) *fake {
	l, err := begin("device")
	require.NoError(t, err)
	l.onLeak = func(leak Leak) { leaks <- leak }
	f := &fake{l: l, c: new(cObject)}
	live(l, f, "dev0", f.c.destroy, (*fake).retire)
	return f
}

// lose makes an object and drops its handle.
//
//go:noinline
func lose(t *testing.T, parents ...Object) (*cObject, weak.Pointer[fake]) {
	f := newFake(t, "x", parents...)
	return f.c, weak.Make(f)
}

// A handle that is lost is collected and reported, once; C's object stays, in the
// way of its parent's Close, until CloseAll.
func TestLeak(t *testing.T) {
	for _, on := range []bool{false, true} {
		checkedMode(t, on)
		leaks := make(chan Leak, 10)
		dev := leakTo(t, leaks)
		kept := newFake(t, "kept", dev)
		c, handle := lose(t, dev, kept)
		collect(t, func() bool { return handle.Value() == nil })
		var leak Leak
		collect(t, func() bool {
			select {
			case leak = <-leaks:
				return true
			default:
				return false
			}
		})
		require.Equal(t, "fake x on dev0", leak.Object)
		require.Equal(t, on, strings.Contains(leak.Stack, "rdma.lose\n"), "%s", leak.Stack)
		require.Zero(t, c.destroyed, "nothing is destroyed behind a device's back")

		var lost []string
		for _, l := range Alive() {
			if l.Lost {
				lost = append(lost, l.Object)
				require.Equal(t, leak.Stack, l.Stack)
			}
		}
		require.Equal(t, []string{"fake x on dev0 (lost: nothing refers to its handle)"}, lost)
		require.ErrorContains(t, kept.Close(), "fake x on dev0 (lost")

		c.refuse = syscall.EIO
		require.Equal(t, syscall.EIO, kept.CloseAll())
		c.refuse = nil
		require.NoError(t, kept.CloseAll())
		require.Equal(t, 1, c.destroyed)
		require.NoError(t, dev.Close())
		runtime.KeepAlive(dev)
		require.Empty(t, leaks, "what is closed is no leak")
	}
}

// What was closed is no leak when it is collected.
func TestNoLeakAfterClose(t *testing.T) {
	leaks := make(chan Leak, 10)
	dev := leakTo(t, leaks)
	_, handle := lose(t, dev)
	h := handle.Value()
	if h == nil {
		t.Fatal("the collector was too early: run it again")
	}
	require.NoError(t, h.Close())
	h = nil
	collect(t, func() bool { return handle.Value() == nil })
	other, _ := lose(t, dev)
	collect(t, func() bool { return len(leaks) > 0 }) // cleanups after this one's have run
	require.Len(t, leaks, 1)
	require.NoError(t, dev.CloseAll())
	require.Equal(t, 1, other.destroyed)
}

// Ten thousand objects leave nothing behind when they are closed.
func TestLifetimesMemory(t *testing.T) {
	dev := newFake(t, "dev0")
	round := func() (heap uint64) {
		for range 20 {
			var all []*fake
			for range 500 {
				pd := newFake(t, "pd", dev)
				all = append(all, newFake(t, "qp", pd, dev))
				if len(all)%2 == 0 {
					require.NoError(t, pd.CloseAll())
				}
			}
			for _, f := range all {
				_ = f.Close()
			}
			for child := range dev.l.children {
				require.NoError(t, child.close())
			}
		}
		var s runtime.MemStats
		for range 3 { // what cleanups held is free one collection later
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		runtime.ReadMemStats(&s)
		return s.HeapAlloc
	}
	alive := len(Alive())
	goroutines := runtime.NumGoroutine()
	round()
	before := round()
	for range 3 {
		round()
	}
	after := round()
	require.Less(t, int64(after)-int64(before), int64(256<<10), "40,000 objects with 8 bytes each are more")
	require.Equal(t, alive, len(Alive()))
	require.LessOrEqual(t, runtime.NumGoroutine(), goroutines+1)
	require.NoError(t, dev.Close())
}

// Errors in checked mode say where an object was made and where it was closed.
func TestStacks(t *testing.T) {
	for _, on := range []bool{false, true} {
		checkedMode(t, on)
		dev := newFake(t, "dev0")
		x := newFake(t, "x", dev)
		require.NoError(t, dev.CloseAll())
		text := fmt.Sprint(x.Close())
		made, closed, _ := strings.Cut(text, "closed by")
		require.Equal(t, on, strings.Contains(made, "rdma.newFake\n"), "%s", text)
		require.Equal(t, on, strings.Contains(made, "leak_test.go:"), "%s", text)
		require.Equal(t, on, strings.Contains(closed, "rdma.(*fake).CloseAll\n"), "%s", text)
		for _, noise := range []string{"rdma.begin\n", "rdma.(*life)", "runtime.", "testing."} {
			require.NotContains(t, text, noise, "only what is the program's")
		}
	}
}

// Where nothing is the program's, all of it is said.
func TestStackOfTheLibrary(t *testing.T) {
	checkedMode(t, true)
	stacks := make(chan stack)
	go func() { stacks <- callers() }() // which leaves the caller out
	require.Contains(t, (<-stacks).String(), "runtime.goexit\n")
	require.Empty(t, stack(nil).String())
}

// tester is a test that NoLeaks looks after.
type tester struct {
	name     string
	cleanups []func()
	errors   []string
}

func (t *tester) Helper()          {}
func (t *tester) Name() string     { return t.name }
func (t *tester) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }
func (t *tester) Errorf(format string, args ...any) {
	t.errors = append(t.errors, fmt.Sprintf(format, args...))
}

func begun(name string) *tester {
	t := &tester{name: name}
	NoLeaks(t)
	return t
}

// end ends the test, and is what NoLeaks said.
func (t *tester) end() string {
	for len(t.cleanups) > 0 {
		f := t.cleanups[len(t.cleanups)-1]
		t.cleanups = t.cleanups[:len(t.cleanups)-1]
		f()
	}
	return strings.Join(t.errors, "\n")
}

// NoLeaks tells of what was made in a test and is not closed.
func TestNoLeaks(t *testing.T) {
	checkedMode(t, false)
	dev := newFake(t, "dev0")
	old := newFake(t, "old", dev)
	a := begun("A")
	closed, open := newFake(t, "closed", dev), newFake(t, "open", dev)
	_, lost := lose(t, dev)
	collect(t, func() bool { return lost.Value() == nil })
	require.NoError(t, closed.Close())
	text := a.end()
	require.Contains(t, text, "2 objects were not closed:\nfake open on dev0\nfake x on dev0")
	require.Contains(t, text, "GOVERBS_CHECK=1")
	require.NotContains(t, text, "old")

	a = begun("A")
	a.Cleanup(func() { require.NoError(t, open.Close()) })
	require.Empty(t, a.end(), "what was there before is not this test's")
	require.NoError(t, dev.CloseAll())
	require.ErrorIs(t, old.Close(), ErrClosed)

	checkedMode(t, true)
	a = begun("A")
	dev = newFake(t, "dev0")
	text = a.end()
	require.Contains(t, text, "rdma.TestNoLeaks\n")
	require.NotContains(t, text, "testing.")
	require.NotContains(t, text, "runtime.")
	require.NoError(t, dev.Close())
	a = begun("A")
	dev = newFake(t, "dev0")
	a.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	require.Empty(t, a.end(), "cleanups that close come first")
}

// Tests in parallel are not blamed for what others have open.
func TestNoLeaksParallel(t *testing.T) {
	a := begun("A")
	devA := newFake(t, "devA")
	b := begun("B")
	devB := newFake(t, "devB") // perhaps A's
	onA, onB := newFake(t, "onA", devA), newFake(t, "onB", devB)
	text := a.end()
	require.Contains(t, text, "2 objects", "A's device tells whose they are")
	require.NotContains(t, text, "onB")
	require.NotContains(t, text, "B, which ran")
	c := begun("C")
	late := newFake(t, "late", devB)
	require.Empty(t, c.end(), "the device was opened before")
	text = b.end()
	require.Contains(t, text, "3 objects")
	require.Contains(t, text, "fake onB on devB, made by this test, or by A, which ran at the same time")
	require.Contains(t, text, "fake late on devB")
	require.NotContains(t, text, "onA")
	for _, f := range []*fake{onA, onB, late, devA, devB} {
		require.NoError(t, f.Close())
	}
}

// A *testing.T is what NoLeaks takes.
func TestNoLeaksOfTesting(t *testing.T) {
	t.Run("sub", func(t *testing.T) {
		NoLeaks(t)
		dev := newFake(t, "dev0")
		t.Cleanup(func() { require.NoError(t, dev.Close()) })
	})
}
