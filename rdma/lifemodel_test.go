package rdma

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// counted is what C does: it counts who uses an object, refuses to destroy one that
// is used, and must never be told to destroy one twice, or to use one that is gone.
type counted struct {
	mu      sync.Mutex
	users   int
	gone    bool
	refuse  bool
	parents []*counted
	faults  *faults
	order   int64 // when it was destroyed
}

// faults is what must not have happened to C's objects.
type faults struct {
	mu    sync.Mutex
	texts []string
	clock atomic.Int64
	count atomic.Int64 // objects that are there
}

func (f *faults) add(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.texts = append(f.texts, fmt.Sprintf(format, args...))
}

// errRefused is why C does not destroy an object.
var errRefused = errors.New("refused by C")

func (f *faults) create(parents ...*counted) *counted {
	c := &counted{parents: parents, faults: f}
	for _, p := range parents {
		p.mu.Lock()
		if p.gone {
			f.add("made from what is destroyed")
		}
		p.users++
		p.mu.Unlock()
	}
	f.count.Add(1)
	return c
}

func (c *counted) destroy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.gone:
		c.faults.add("destroyed twice")
	case c.users > 0:
		c.faults.add("destroyed with %d users", c.users)
	case c.refuse:
		return errRefused
	}
	c.gone = true
	c.order = c.faults.clock.Add(1)
	for _, p := range c.parents {
		p.mu.Lock()
		p.users--
		p.mu.Unlock()
	}
	c.faults.count.Add(-1)
	return nil
}

// use is a call of C that needs the object.
func (c *counted) use() {
	c.mu.Lock()
	if c.gone {
		c.faults.add("used after it was destroyed")
	}
	c.users++
	c.mu.Unlock()
	runtime.Gosched()
	c.mu.Lock()
	c.users--
	c.mu.Unlock()
}

func (c *counted) setRefuse(refuse bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refuse = refuse
}

// handle is that of a counted object.
type handle struct {
	l *life
	c *counted
}

func (h *handle) Close() error    { return h.l.close() }
func (h *handle) CloseAll() error { return h.l.closeAll() }
func (h *handle) String() string  { return h.l.text() }
func (h *handle) lifetime() *life { return h.l }

func newHandle(f *faults, parents ...*handle) (*handle, error) {
	objects := make([]Object, len(parents))
	for i, p := range parents {
		objects[i] = p
	}
	l, err := begin("object", objects...)
	if err != nil {
		return nil, err
	}
	var cs []*counted
	for _, p := range parents {
		if !slices.Contains(cs, p.c) {
			cs = append(cs, p.c)
		}
	}
	h := &handle{l: l, c: f.create(cs...)}
	live(l, h, fmt.Sprint(l.number), h.c.destroy, nil)
	return h, nil
}

// modelled is what is expected of an object.
type modelled struct {
	*handle
	children []*modelled
	parents  []*modelled
	device   *modelled
	closed   bool
	refuses  bool
}

func (m *modelled) alive() []*modelled {
	return slices.DeleteFunc(slices.Clone(m.children), func(c *modelled) bool { return c.closed })
}

// attempt is a CloseAll of the model.
type attempt struct {
	closed []*modelled
	stays  map[*modelled]bool // and whether it is because C refuses
}

// closeAll closes what can be, in the model, and reports whether m is closed.
func (m *modelled) closeAll(a *attempt) bool {
	if _, stays := a.stays[m]; stays || m.closed {
		return m.closed
	}
	all := true
	for _, c := range m.alive() {
		all = c.closeAll(a) && all
	}
	if m.closed = all && !m.refuses; m.closed {
		a.closed = append(a.closed, m)
	} else {
		a.stays[m] = all
	}
	return m.closed
}

// needs reports whether m is made from other, however far up.
func (m *modelled) needs(other *modelled, seen map[*modelled]bool) bool {
	if seen[m] {
		return false
	}
	seen[m] = true
	return m == other || slices.ContainsFunc(m.parents, func(p *modelled) bool { return p.needs(other, seen) })
}

// Ten thousand objects are made, joined and closed in random order, right and
// wrong, and every answer is the model's.
func TestLifetimesModel(t *testing.T) {
	const seed = 1
	random := rand.New(rand.NewPCG(seed, 0))
	before := len(living.list())
	f := new(faults)
	var all []*modelled
	add := func(parents ...*modelled) {
		m := &modelled{}
		var handles []*handle
		expectClosed, expectOther := false, false
		for _, p := range parents {
			handles = append(handles, p.handle)
			expectClosed = expectClosed || p.closed
			expectOther = expectOther || p.device != parents[0].device
		}
		h, err := newHandle(f, handles...)
		switch {
		case expectOther:
			require.ErrorIs(t, err, syscall.EINVAL)
			return
		case expectClosed:
			require.ErrorIs(t, err, ErrClosed)
			return
		}
		require.NoError(t, err)
		m.handle, m.parents, m.device = h, parents, m
		for _, p := range parents {
			m.device = p.device
			if !slices.Contains(p.children, m) {
				p.children = append(p.children, m)
			}
		}
		all = append(all, m)
	}
	check := func(m *modelled) {
		m.c.mu.Lock()
		defer m.c.mu.Unlock()
		require.Equal(t, m.closed, m.c.gone, "%v", m)
	}
	// recent is one of the latest, so that many are open, and chains are long.
	recent := func() *modelled { return all[len(all)-1-min(int(random.ExpFloat64()*40), len(all)-1)] }
	for len(all) < 10_000 {
		if len(all) == 0 || random.IntN(200) == 0 {
			add()
			continue
		}
		m := recent()
		switch k := random.IntN(100); {
		case k < 45:
			parents := []*modelled{m}
			for range random.IntN(3) {
				p := recent()
				if p.device == m.device || random.IntN(20) == 0 {
					parents = append(parents, p)
				}
			}
			add(parents...)
		case k < 78:
			err := m.Close()
			var children *ChildrenError
			switch alive := m.alive(); {
			case m.closed:
				require.ErrorIs(t, err, ErrClosed)
			case len(alive) > 0:
				require.ErrorAs(t, err, &children)
				slices.SortFunc(alive, func(a, b *modelled) int { return cmp.Compare(b.l.number, a.l.number) })
				var names []string
				for _, c := range alive {
					names = append(names, c.String())
				}
				require.Equal(t, names, children.Children)
			case m.refuses:
				require.Equal(t, errRefused, err)
			default:
				require.NoError(t, err)
				m.closed = true
			}
			check(m)
		case k < 82:
			// Not many, so that something is left to close.
			if len(m.alive()) > 20 {
				continue
			}
			a := &attempt{stays: map[*modelled]bool{}}
			m.closeAll(a)
			refusals := 0
			for _, refused := range a.stays {
				if refused {
					refusals++
				}
			}
			err := m.CloseAll()
			switch refusals {
			case 0:
				require.NoError(t, err)
			case 1:
				require.Equal(t, errRefused, err)
			default:
				errs := err.(interface{ Unwrap() []error }).Unwrap()
				require.Len(t, errs, refusals)
			}
			for _, m := range a.closed {
				check(m)
			}
			for m := range a.stays {
				check(m)
			}
		case k < 90:
			other := recent()
			err := m.l.adopt(other.l)
			switch {
			case m.device != other.device:
				require.ErrorIs(t, err, syscall.EINVAL)
			case m.closed || other.closed:
				require.ErrorIs(t, err, ErrClosed)
			case other.needs(m, map[*modelled]bool{}):
				require.ErrorIs(t, err, syscall.EINVAL)
			default:
				require.NoError(t, err)
				if !slices.Contains(other.children, m) {
					other.children, m.parents = append(other.children, m), append(m.parents, other)
				}
			}
		case k < 95:
			m.refuses = !m.refuses && random.IntN(4) == 0
			m.c.setRefuse(m.refuses)
		default:
			err := m.l.during("use", func() error { m.c.use(); return nil })
			if m.closed {
				require.ErrorIs(t, err, ErrClosed)
			} else {
				require.NoError(t, err)
			}
		}
	}
	open := 0
	for _, m := range all {
		check(m)
		if !m.closed {
			open++
		}
	}
	require.Equal(t, open, int(f.count.Load()))
	require.Equal(t, open, len(living.list())-before)
	t.Logf("%d of %d objects are open in the end", open, len(all))
	for _, m := range all {
		m.refuses = false
		m.c.setRefuse(false)
	}
	for _, m := range all {
		if m.device == m {
			require.NoError(t, m.CloseAll())
		}
	}
	for _, m := range all {
		require.True(t, m.c.gone)
		for _, p := range m.parents {
			require.Less(t, m.c.order, p.c.order, "children are destroyed first")
		}
	}
	require.Empty(t, f.texts)
	require.Zero(t, f.count.Load())
	require.Equal(t, before, len(living.list()))
}

// Many goroutines make, use and close the same objects, and nothing is destroyed
// twice, too early or never.
func TestLifetimesConcurrently(t *testing.T) {
	const seed, workers, each = 2, 16, 2000
	before := len(living.list())
	f := new(faults)
	var mu sync.Mutex
	var pool []*handle
	pick := func(random *rand.Rand) *handle {
		mu.Lock()
		defer mu.Unlock()
		return pool[len(pool)-1-min(int(random.ExpFloat64()*20), len(pool)-1)]
	}
	put := func(h *handle) {
		mu.Lock()
		defer mu.Unlock()
		pool = append(pool, h)
	}
	for range 3 {
		dev, err := newHandle(f)
		require.NoError(t, err)
		put(dev)
	}
	var unexpected faults
	expect := func(err error, may ...error) {
		if err != nil && !slices.ContainsFunc(may, func(e error) bool { return errors.Is(err, e) }) {
			unexpected.add("%v", err)
		}
	}
	var closedByClose, made atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		random := rand.New(rand.NewPCG(seed, uint64(w)))
		wg.Go(func() {
			for range each {
				h := pick(random)
				switch k := random.IntN(100); {
				case k < 3:
					dev, err := newHandle(f)
					expect(err)
					put(dev)
				case k < 50:
					parents := []*handle{h, h}
					if other := pick(random); other.l.tree == h.l.tree {
						parents[1] = other
					}
					child, err := newHandle(f, parents...)
					expect(err, ErrClosed)
					if err == nil {
						made.Add(1)
						put(child)
					}
				case k < 70:
					err := h.Close()
					expect(err, ErrClosed, syscall.EBUSY, errRefused)
					if err == nil {
						closedByClose.Add(1)
					}
				case k < 75:
					expect(h.CloseAll(), errRefused)
				case k < 85:
					expect(h.l.adopt(pick(random).l), ErrClosed, syscall.EINVAL)
				case k < 90:
					h.c.setRefuse(random.IntN(4) == 0)
				default:
					expect(h.l.during("use", func() error { h.c.use(); return nil }), ErrClosed)
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, unexpected.texts)
	for _, h := range pool {
		h.c.setRefuse(false)
	}
	for range 4 { // all of them at once, and from everywhere
		wg.Go(func() {
			for _, h := range pool {
				expect(h.CloseAll())
			}
		})
	}
	wg.Wait()
	require.Empty(t, unexpected.texts)
	require.Empty(t, f.texts)
	require.Zero(t, f.count.Load())
	require.Equal(t, before, len(living.list()))
	t.Logf("%d children made, %d objects closed one by one", made.Load(), closedByClose.Load())
	require.NotZero(t, closedByClose.Load())
}
