package rdma

import (
	"errors"
	"io/fs"
	"runtime"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// fake is a handle whose C object is the test's own.
type fake struct {
	l   *life
	c   *cObject
	hot error // what its hot calls return
}

func (f *fake) Close() error    { return f.lifetime().close() }
func (f *fake) CloseAll() error { return f.lifetime().closeAll() }
func (f *fake) String() string  { return f.lifetime().text() }
func (f *fake) lifetime() *life {
	if f == nil {
		return nil
	}
	return f.l
}

// cObject is what a fake destroys: like C's, it does not know the handle.
type cObject struct {
	mu        sync.Mutex
	destroyed int
	refuse    error
	during    func() // called while it is destroyed
}

func (c *cObject) destroy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.during != nil {
		c.during()
	}
	if c.refuse != nil {
		return c.refuse
	}
	c.destroyed++
	return nil
}

func (c *cObject) set(refuse error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = refuse
}

// retire is that of a handle.
func (f *fake) retire() (revive func()) {
	f.hot = ErrClosed
	return func() { f.hot = nil }
}

// newFake makes an object from parents; without any, a device.
func newFake(t *testing.T, name string, parents ...Object) *fake {
	t.Helper()
	f, err := makeFake(name, parents...)
	require.NoError(t, err)
	return f
}

func makeFake(name string, parents ...Object) (*fake, error) {
	l, err := begin("fake", parents...)
	if err != nil {
		return nil, err
	}
	f := &fake{l: l, c: new(cObject)}
	live(l, f, name, f.c.destroy, (*fake).retire)
	return f, nil
}

// CloseAll closes what work requests name after the queues that they are on.
func TestCloseAllOrder(t *testing.T) {
	kinds := []string{"memory window", "shared receive queue", "queue pair", "address handle", "memory region"}
	want := []string{"memory window", "queue pair", "shared receive queue", "memory region", "address handle"}
	dev := newFake(t, "dev0")
	var order []string
	for _, kind := range kinds {
		l, err := begin(kind, dev)
		require.NoError(t, err)
		f := &fake{l: l, c: new(cObject)}
		live(l, f, "", func() error {
			order = append(order, kind)
			return f.c.destroy()
		}, (*fake).retire)
	}
	require.NoError(t, dev.CloseAll())
	require.Equal(t, want, order)
}

// Close is once, in the right order, and says what stands in its way.
func TestCloseOrder(t *testing.T) {
	dev := newFake(t, "dev0")
	pd, cq := newFake(t, "pd", dev), newFake(t, "cq", dev)
	qp := newFake(t, "qp", pd, cq, cq, nil)

	var children *ChildrenError
	for _, parent := range []*fake{pd, cq} {
		err := parent.Close()
		require.ErrorAs(t, err, &children)
		require.ErrorIs(t, err, syscall.EBUSY)
		require.Equal(t, &ChildrenError{Object: parent.String(), Children: []string{"fake qp on dev0"}}, children)
		require.NoError(t, parent.hot)
	}
	require.ErrorAs(t, dev.Close(), &children)
	require.Equal(t, []string{"fake cq on dev0", "fake pd on dev0"}, children.Children, "the newest first")

	require.NoError(t, qp.Close())
	for range 2 {
		err := qp.Close()
		require.ErrorIs(t, err, ErrClosed)
		require.ErrorIs(t, err, fs.ErrClosed)
		require.Equal(t, "rdma: close fake qp on dev0: it is closed", firstLine(err))
	}
	require.NoError(t, qp.CloseAll(), "what is closed already is no error")
	require.ErrorIs(t, qp.hot, ErrClosed)
	require.Equal(t, 1, qp.c.destroyed)
	_, err := makeFake("late", pd, qp)
	require.ErrorIs(t, err, ErrClosed)
	require.Equal(t, "rdma: make fake from fake qp on dev0: it is closed", firstLine(err))
	require.NoError(t, pd.Close(), "nothing is left of what could not be made")
	require.NoError(t, dev.CloseAll())
	for _, f := range []*fake{dev, pd, cq, qp} {
		require.Equal(t, 1, f.c.destroyed)
	}
}

// What C refuses to destroy stays, and so does what it needs; the rest is closed,
// everything is tried once, and later all goes well.
func TestCloseRefused(t *testing.T) {
	dev := newFake(t, "dev0")
	pd, cq := newFake(t, "pd", dev), newFake(t, "cq", dev)
	qp1, qp2 := newFake(t, "qp1", pd, cq), newFake(t, "qp2", pd, cq)
	mr := newFake(t, "mr", pd)
	tries := 0
	qp1.c.during = func() { tries++ }
	qp1.c.refuse = syscall.EIO

	require.Equal(t, syscall.EIO, qp1.Close())
	require.NoError(t, qp1.hot, "it works again")
	require.NoError(t, qp1.l.check("poll"))
	_, err := makeFake("child", qp1)
	require.NoError(t, err)

	tries = 0
	require.Equal(t, syscall.EIO, dev.CloseAll())
	require.Equal(t, 1, tries)
	for f, destroyed := range map[*fake]int{dev: 0, pd: 0, cq: 0, qp1: 0, qp2: 1, mr: 1} {
		require.Equal(t, destroyed, f.c.destroyed, "%v", f)
	}
	require.NoError(t, newFake(t, "new", dev).Close(), "it works meanwhile")

	qp1.c.set(nil)
	require.NoError(t, dev.CloseAll())
	for _, f := range []*fake{dev, pd, cq, qp1, qp2, mr} {
		require.Equal(t, 1, f.c.destroyed, "%v", f)
	}
}

// All reasons are in the error of a CloseAll.
func TestCloseAllReasons(t *testing.T) {
	dev := newFake(t, "dev0")
	for _, reason := range []error{syscall.EIO, syscall.ENOMEM} {
		newFake(t, "x", dev).c.refuse = reason
	}
	err := dev.CloseAll()
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorIs(t, err, syscall.ENOMEM)
}

// Whatever a Close does, the object is as it was, or closed.
func TestClosePanics(t *testing.T) {
	dev := newFake(t, "dev0")
	x := newFake(t, "x", dev)
	x.c.during = func() { panic("no") }
	require.Panics(t, func() { _ = x.Close() })
	require.Panics(t, func() { _ = dev.CloseAll() })
	require.NoError(t, x.hot)
	x.c.during = nil
	require.NoError(t, newFake(t, "y", x).Close())
	require.NoError(t, dev.CloseAll())
}

// An object that is not the C library's is left alone, and its Close counts.
func TestCloseAdopted(t *testing.T) {
	dev := newFake(t, "dev0")
	l, err := begin("fake", dev)
	require.NoError(t, err)
	f := &fake{l: l}
	live(l, f, "adopted", nil, nil)
	child := newFake(t, "child", f)
	require.ErrorIs(t, f.Close(), syscall.EBUSY)
	require.NoError(t, f.CloseAll())
	require.Equal(t, 1, child.c.destroyed)
	require.ErrorIs(t, f.Close(), ErrClosed)
}

// Objects of different devices do not go together.
func TestDifferentDevices(t *testing.T) {
	a, b := newFake(t, "dev0"), newFake(t, "dev1")
	x, y := newFake(t, "x", a), newFake(t, "y", b)
	_, err := makeFake("z", x, y)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.EqualError(t, err, "rdma: make fake: invalid argument; what it takes belongs to different openings of devices: fake dev0 and fake dev1")
	require.ErrorIs(t, x.l.adopt(y.l), syscall.EINVAL)
	require.NoError(t, a.CloseAll())
	require.NoError(t, b.CloseAll())
}

// What an object is to close after can be said later, but not in a circle.
func TestAdopt(t *testing.T) {
	dev := newFake(t, "dev0")
	a, b, c := newFake(t, "a", dev), newFake(t, "b", dev), newFake(t, "c", dev)
	require.NoError(t, a.l.adopt(b.l))
	require.NoError(t, a.l.adopt(b.l), "it is so already")
	require.NoError(t, b.l.adopt(c.l))
	for _, circle := range [][2]*fake{{a, a}, {b, a}, {c, a}, {dev, a}} {
		require.ErrorIs(t, circle[0].l.adopt(circle[1].l), syscall.EINVAL)
	}
	require.ErrorIs(t, c.Close(), syscall.EBUSY)
	require.NoError(t, c.CloseAll())
	require.Equal(t, 1, a.c.destroyed)
	require.ErrorIs(t, a.l.adopt(dev.l), ErrClosed)
	d := newFake(t, "d", dev)
	require.ErrorIs(t, d.l.adopt(c.l), ErrClosed)
	require.NoError(t, d.Close())
	require.NoError(t, dev.Close(), "nothing stays behind")
}

// Nil handles, and those that nobody made, get errors.
func TestNoHandle(t *testing.T) {
	dev := newFake(t, "dev0")
	for _, f := range []*fake{nil, {}} {
		require.ErrorIs(t, f.Close(), syscall.EINVAL)
		require.ErrorIs(t, f.CloseAll(), syscall.EINVAL)
		require.Contains(t, f.String(), "nil")
		_, err := makeFake("x", dev, f)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "*rdma.fake")
		require.ErrorIs(t, f.lifetime().adopt(dev.l), syscall.EINVAL)
		require.ErrorIs(t, dev.l.adopt(f.lifetime()), syscall.EINVAL)
		require.ErrorIs(t, f.lifetime().check("poll"), syscall.EINVAL)
		require.ErrorIs(t, f.lifetime().during("query", func() error { panic("called") }), syscall.EINVAL)
	}
	_, err := makeFake("x", nil, nil)
	require.ErrorIs(t, err, syscall.EINVAL, "it would be a device")
	require.NoError(t, dev.Close())
}

// Close waits for calls that need the object, and they for nobody.
func TestCloseWaitsForUses(t *testing.T) {
	dev := newFake(t, "dev0")
	x := newFake(t, "x", dev)
	in, out := make(chan struct{}), make(chan struct{})
	used, ended := make(chan error), make(chan error)
	reason := errors.New("a reason")
	go func() {
		used <- x.l.during("query", func() error {
			close(in)
			<-out
			x.c.mu.Lock()
			defer x.c.mu.Unlock()
			if x.c.destroyed > 0 {
				return errors.New("it was destroyed meanwhile")
			}
			return reason
		})
	}()
	<-in
	go func() { ended <- dev.CloseAll() }()
	for x.l.check("look") == nil { // until Close has come to it
		runtime.Gosched()
	}
	err := x.l.during("query", func() error { panic("called") })
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, err, syscall.EBUSY)
	require.Equal(t, "rdma: query fake x on dev0: it is being closed", firstLine(err))
	_, err = makeFake("y", dev)
	require.ErrorIs(t, err, ErrClosed, "a device that is being closed takes nothing new")
	close(out)
	require.Equal(t, reason, <-used)
	require.NoError(t, <-ended)
	require.ErrorIs(t, x.l.during("query", func() error { panic("called") }), ErrClosed)
}

// CloseAll waits for what is being made, and Close says that it is.
func TestCloseWhileMaking(t *testing.T) {
	for _, made := range []bool{false, true} {
		dev := newFake(t, "dev0")
		pd := newFake(t, "pd", dev)
		l, err := begin("fake", pd)
		require.NoError(t, err)
		var children *ChildrenError
		require.ErrorAs(t, pd.Close(), &children)
		require.Equal(t, []string{"fake on dev0 (being made)"}, children.Children)
		ended := make(chan error)
		go func() { ended <- dev.CloseAll() }()
		for {
			pd.l.tree.Lock()
			came := l.closingAll > 0
			pd.l.tree.Unlock()
			if came {
				break
			}
			runtime.Gosched()
		}
		f := &fake{l: l, c: new(cObject)}
		if made {
			live(l, f, "x", f.c.destroy, (*fake).retire)
		} else {
			l.abandon()
		}
		require.NoError(t, <-ended)
		require.Equal(t, made, f.c.destroyed == 1)
		require.Equal(t, 1, pd.c.destroyed)
	}
}

// A Close waits for another one, and one of them destroys the object.
func TestCloseTwiceAtOnce(t *testing.T) {
	for _, refuse := range []error{nil, syscall.EIO} {
		dev := newFake(t, "dev0")
		x := newFake(t, "x", dev)
		in, out := make(chan struct{}, 2), make(chan struct{})
		x.c.refuse = refuse
		x.c.during = func() { in <- struct{}{}; <-out }
		results := make(chan error)
		go func() { results <- x.Close() }()
		<-in
		go func() { results <- x.Close() }()
		close(out)
		first, second := <-results, <-results
		if refuse != nil {
			require.Equal(t, []error{refuse, refuse}, []error{first, second}, "both tried")
			x.c.set(nil)
		} else {
			require.ErrorIs(t, errors.Join(first, second), ErrClosed)
			require.True(t, (first == nil) != (second == nil), "%v and %v", first, second)
			require.Equal(t, 1, x.c.destroyed)
		}
		require.NoError(t, dev.CloseAll())
	}
}
