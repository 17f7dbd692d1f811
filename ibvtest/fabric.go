//go:build !freebsd

package ibvtest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/goverbs/goverbs/ibv"
)

// T is what a fabric needs of a test: *testing.T and *testing.B have it.
type T interface {
	Helper()
	Cleanup(func())
	Errorf(format string, args ...any)
	Logf(format string, args ...any)
	Failed() bool
}

// Fabric is some devices in the process that reach each other. Any goroutine may use it.
type Fabric struct {
	mu      lock // held by every verb: the fabric does one thing at a time
	hooking hooking
	devices []*device
	closed  bool
	alive   map[uintptr]kept // what programs know by its address alone
	kept    int
	timers  map[*timer]struct{}
	claims  claims

	// The memory at the two ends of the message that is being carried out.
	here, there []piece
	number      uint64 // what an atomic operation carries
	// A datagram, with what is in front of it.
	datagram []piece
	header   [ibv.GRHLength]byte

	// acknowledged is told of each event that a program acknowledges, and of the end. It is of mu.
	acknowledged sync.Cond

	// What is by chance, or by a test's hooks. The lock guards it.
	seed     uint64
	random   *rand.Rand
	drawn    bool // whether anything was drawn of it
	chances  chances
	provider Provider
	hooks    hooks

	// What devices are made like.
	limits     ibv.DeviceAttr
	infiniband bool
}

// Option is how a fabric differs from one of New without options.
type Option func(*config)

// config is what the options say.
type config struct {
	wrong    []string // what cannot be had, which fails the test
	devices  int
	seed     uint64
	chances  chances
	provider Provider

	limits     ibv.DeviceAttr
	infiniband bool
}

// Devices has the fabric have so many devices, 1 if it is not told, and at least that.
func Devices(n int) Option {
	return func(c *config) {
		if n < 1 {
			c.refuse("Devices(%d): a fabric has one device or more", n)
			return
		}
		c.devices = n
	}
}

// refuse keeps what is wrong with an option, which changes nothing then.
func (c *config) refuse(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// New makes a fabric, which ends with the test. Its devices are found by ibv.Open and
// rdma.Open from then on, in front of the machine's own. Tests that run in parallel each
// find the others' too, so they open theirs by its name: see [Fabric.Names]. Once the
// test is over, nobody finds the devices any more, and what is still open of them has
// its verbs be syscall.EIO, but for those that close. An option that cannot be, such as
// Loss(7), fails the test and changes nothing.
func New(t T, opts ...Option) *Fabric {
	t.Helper()
	c := config{devices: 1, seed: defaultSeed(), limits: defaultLimits()}
	for _, opt := range opts {
		if opt != nil {
			opt(&c)
		}
	}
	for _, wrong := range c.wrong {
		t.Errorf("ibvtest: %s", wrong)
	}
	f := &Fabric{
		alive: map[uintptr]kept{}, timers: map[*timer]struct{}{}, seed: c.seed, random: newRandom(c.seed), chances: c.chances, provider: c.provider,
		limits: c.limits, infiniband: c.infiniband,
	}
	f.acknowledged.L = &f.mu
	fabrics.add(f, c.devices)
	t.Cleanup(func() {
		f.close()
		f.tellSeed(t)
	})
	return f
}

// Names is the names of the fabric's devices, by which ibv.Open and rdma.Open find them.
func (f *Fabric) Names() []string {
	names := make([]string, len(f.devices))
	for i, d := range f.devices {
		names[i] = d.name
	}
	return names
}

func (f *Fabric) close() {
	fabrics.remove(f)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for _, d := range f.devices {
		d.gone.Store(true)
	}
	f.stopTimers()
	f.endEvents()
}

// fabrics is those of the process.
var fabrics registry

// registry is the fabrics whose devices are found.
type registry struct {
	mu   sync.Mutex
	all  []*Fabric
	made int // how many devices there were
}

// add gives the fabric its devices, with names that no other device had.
func (r *registry) add(f *Fabric, devices int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for range devices {
		f.devices = append(f.devices, newDevice(f, fmt.Sprintf("test%d", r.made), r.made))
		r.made++
	}
	r.all = append(r.all, f)
}

func (r *registry) remove(f *Fabric) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.all = slices.DeleteFunc(r.all, func(other *Fabric) bool { return other == f })
}

// devices is those of all fabrics that are found, and whether there is a fabric.
func (r *registry) devices() (all []*device, is bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.all {
		for _, d := range f.devices {
			if !d.gone.Load() {
				all = append(all, d)
			}
		}
	}
	return all, len(r.all) > 0
}
