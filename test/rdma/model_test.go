//go:build device && linux

package rdma

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// resources is how many objects the kernel has of a device, by what iproute2's tool
// calls them.
type resources struct{ PD, CQ, QP, MR, Ctx, SRQ int }

// kernelHas asks the kernel, not the library.
func kernelHas(t *testing.T, device string) resources {
	t.Helper()
	out, err := exec.Command("rdma", "-j", "resource", "show", device).Output()
	require.NoError(t, err, "the tool rdma of iproute2 counts the kernel's objects")
	var all []resources
	require.NoError(t, json.Unmarshal(out, &all), "%s", out)
	require.Len(t, all, 1, "%s", out)
	return all[0]
}

func (r resources) minus(s resources) resources {
	return resources{r.PD - s.PD, r.CQ - s.CQ, r.QP - s.QP, r.MR - s.MR, r.Ctx - s.Ctx, r.SRQ - s.SRQ}
}

// object is one that the model knows of. Its fields are the model's.
type object struct {
	rdma.Object
	parents []*object
	closed  bool
}

// add counts an object as the kernel does: address handles are the library's own
// affair, or the kernel does not tell of them.
func (r *resources) add(o rdma.Object) {
	switch o.(type) {
	case *rdma.Device:
		r.Ctx++
	case *rdma.PD:
		r.PD++
	case *rdma.CQ:
		r.CQ++
	case *rdma.QP:
		r.QP++
	case *rdma.SRQ:
		r.SRQ++
	case *rdma.Region:
		r.MR++
	}
}

// crowd is real objects, of which it makes others at random.
type crowd struct {
	all    []*object
	random *rand.Rand
	gid    ibv.GIDEntry
	memory []byte
}

// newest is the object of a kind that was made last but n, open or not; nil if there
// is none.
func newest[T rdma.Object](c *crowd, n int) (*object, T) {
	var none T
	for _, o := range slices.Backward(c.all) {
		if x, ok := o.Object.(T); ok {
			if n--; n < 0 {
				return o, x
			}
		}
	}
	return nil, none
}

// some is an object of a kind, one of the last, or a nil one, which is wrong.
func some[T rdma.Object](c *crowd) (*object, T) { return newest[T](c, c.random.IntN(4)) }

// add makes an object and gives it to the model, if there is no error.
func add[T rdma.Object](c *crowd, make func() (T, error), parents ...*object) error {
	x, err := make()
	if err != nil {
		return err
	}
	o := &object{Object: x}
	for _, p := range parents {
		if p != nil {
			o.parents = append(o.parents, p)
		}
	}
	c.all = append(c.all, o)
	return nil
}

// children is the open objects that need o.
func (c *crowd) children(o *object) (children []*object) {
	for _, other := range c.all {
		if !other.closed && slices.Contains(other.parents, o) {
			children = append(children, other)
		}
	}
	return children
}

// closeAll closes an object and all that needs it, in the model.
func (c *crowd) closeAll(o *object) {
	for _, child := range c.children(o) {
		c.closeAll(child)
	}
	o.closed = true
}

// device is the device that an object is of.
func (o *object) device() *object {
	for len(o.parents) > 0 {
		o = o.parents[0]
	}
	return o
}

// make makes something of something, and reports what is wrong with it, by the
// model: nil, closed, or of another device.
func (c *crowd) make() (wrong syscall.Errno, closed bool, err error) {
	judge := func(parents ...*object) {
		for _, p := range parents {
			if p == nil || p.device() != parents[0].device() {
				wrong = syscall.EINVAL
				return
			}
			closed = closed || p.closed
		}
	}
	switch c.random.IntN(8) {
	case 0:
		d, dev := some[*rdma.Device](c)
		judge(d)
		err = add(c, dev.AllocPD, d)
	case 1, 2:
		d, dev := some[*rdma.Device](c)
		judge(d)
		err = add(c, func() (*rdma.CQ, error) {
			return dev.CreateCQ(1024, rdma.CQOptions{NoChannel: c.random.IntN(2) == 0})
		}, d)
	case 3:
		p, pd := some[*rdma.PD](c)
		judge(p)
		err = add(c, func() (*rdma.SRQ, error) { return pd.CreateSRQ(4, rdma.SRQOptions{}) }, p)
	case 4:
		p, pd := some[*rdma.PD](c)
		judge(p)
		err = add(c, func() (*rdma.Region, error) { return pd.Register(c.memory, access) }, p)
	case 5:
		p, pd := some[*rdma.PD](c)
		judge(p)
		err = add(c, func() (*rdma.AH, error) { return pd.CreateAH(rdma.AHOptions{GID: c.gid.GID, From: c.gid}) }, p)
	default:
		p, pd := some[*rdma.PD](c)
		s, send := some[*rdma.CQ](c)
		r, recv := some[*rdma.CQ](c)
		q, srq := some[*rdma.SRQ](c)
		if c.random.IntN(3) > 0 || q == nil {
			q, srq = nil, nil
		}
		queues := slices.DeleteFunc([]*object{p, s, r, q}, func(o *object) bool { return o == nil })
		if judge(queues...); wrong == 0 && !closed && (s == nil || r == nil) {
			wrong = syscall.EINVAL
		}
		if p == nil {
			wrong = syscall.EINVAL
		}
		err = add(c, func() (*rdma.QP, error) {
			return pd.CreateQP(rdma.QPOptions{SendCQ: send, RecvCQ: recv, SRQ: srq, Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}})
		}, p, s, r, q)
	}
	return wrong, closed, err
}

// use asks an object something, in ways that reach C.
func use(o rdma.Object) error {
	var err error
	switch x := o.(type) {
	case *rdma.Device:
		_, err = x.Port(1)
	case *rdma.CQ:
		_, err = x.Poll(make([]ibv.WC, 1))
	case *rdma.QP:
		_, err = x.State()
	case *rdma.SRQ:
		_, err = x.Query()
	}
	return err
}

// asks reports whether use asks the object anything.
func asks(o rdma.Object) bool {
	switch o.(type) {
	case *rdma.Device, *rdma.CQ, *rdma.QP, *rdma.SRQ:
		return true
	}
	return false
}

// process is what the process has: goroutines, open files, and kilobytes of memory.
func process(t *testing.T) (goroutines, files, kilobytes int) {
	t.Helper()
	for range 3 {
		runtime.GC()
	}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rss, ok := strings.Cut(string(status), "VmRSS:")
	require.True(t, ok)
	kilobytes, err = strconv.Atoi(strings.Fields(rss)[0])
	require.NoError(t, err)
	return runtime.NumGoroutine(), len(entries), kilobytes
}

// Ten thousand real objects are opened and closed in random order, right and wrong.
// Every answer is the model's, and the kernel has what the model has. In the end it
// has nothing, and the process has what it had when it was a third as far.
func TestModel(t *testing.T) {
	const seed, each = 3, 666 // objects of a round
	objects := effort(t, 10_000)
	rdma.NoLeaks(t)
	base := kernelHas(t, deviceName)
	c := &crowd{random: rand.New(rand.NewPCG(seed, 0)), memory: make([]byte, 4096)}
	open := func() (*rdma.Device, error) { return rdma.Open(deviceName, rdma.DeviceOptions{}) }
	compare := func() {
		var expected resources
		for _, o := range c.all {
			if !o.closed {
				expected.add(o.Object)
			}
		}
		require.Equal(t, expected, kernelHas(t, deviceName).minus(base))
	}
	closeDevices := func() {
		for _, o := range c.all {
			if dev, ok := o.Object.(*rdma.Device); ok {
				require.NoError(t, dev.CloseAll())
				c.closeAll(o)
			}
		}
		compare()
	}
	t.Cleanup(func() {
		for _, o := range c.all {
			_ = o.CloseAll()
		}
	})
	kinds := map[string]int{}
	done, goroutines, files, kilobytes := 0, 0, 0, 0
	for round := 0; done < objects; round++ {
		for range 2 {
			require.NoError(t, add(c, open))
		}
		dev, _ := newest[*rdma.Device](c, 0)
		gid, err := dev.Object.(*rdma.Device).Raw().BestGID(1)
		require.NoError(t, err)
		c.gid = gid
		for step := 0; len(c.all) < each; step++ {
			if step%500 == 499 {
				compare()
			}
			o := c.all[len(c.all)-1-min(int(c.random.ExpFloat64()*30), len(c.all)-1)]
			switch k := c.random.IntN(100); {
			case k < 60:
				wrong, closed, err := c.make()
				switch {
				case wrong != 0:
					require.ErrorIs(t, err, wrong)
				case closed:
					require.ErrorIs(t, err, rdma.ErrClosed)
				default:
					require.NoError(t, err)
				}
				kinds[strconv.FormatBool(err == nil)]++
			case k < 85:
				children, err := c.children(o), o.Close()
				var busy *rdma.ChildrenError
				switch {
				case o.closed:
					require.ErrorIs(t, err, rdma.ErrClosed)
					kinds["closed again"]++
				case len(children) > 0:
					require.ErrorAs(t, err, &busy)
					require.Len(t, busy.Children, len(children))
					kinds["busy"]++
				default:
					require.NoError(t, err)
					o.closed = true
					kinds["closed"]++
				}
			case k < 88 && len(o.parents) > 0:
				require.NoError(t, o.CloseAll())
				c.closeAll(o)
			default:
				if err := use(o.Object); o.closed && asks(o.Object) {
					require.ErrorIs(t, err, rdma.ErrClosed)
				} else {
					require.NoError(t, err, "%v", o)
				}
			}
		}
		compare()
		closeDevices()
		done += len(c.all)
		c.all = nil
		switch g, f, k := process(t); {
		case round < 5: // C's libraries and Go's runtime warm up
			goroutines, files, kilobytes = g, f, k
		default:
			require.LessOrEqual(t, g, goroutines)
			require.LessOrEqual(t, f, files)
			require.Less(t, k, kilobytes+4096)
		}
	}
	t.Logf("%d objects; what was made, true or not, and closed: %v", done, kinds)
	require.Equal(t, base, kernelHas(t, deviceName))
}

// Goroutines open, use and close the same real objects at once. C never sees a
// wrong order, and nothing is left.
func TestModelConcurrently(t *testing.T) {
	const seed, workers, each = 4, 8, 400
	rdma.NoLeaks(t)
	base := kernelHas(t, deviceName)
	dev, err := rdma.Open(deviceName, rdma.DeviceOptions{})
	require.NoError(t, err)
	var mu sync.Mutex
	var pds []*rdma.PD
	var cqs []*rdma.CQ
	var rest []rdma.Object
	var faults []error
	judge := func(err error) {
		var c *ibv.Error
		if err == nil || !errors.As(err, &c) && (errors.Is(err, rdma.ErrClosed) || errors.Is(err, syscall.EBUSY)) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		faults = append(faults, err)
	}
	var wg sync.WaitGroup
	for w := range workers {
		random := rand.New(rand.NewPCG(seed, uint64(w)))
		wg.Go(func() {
			for range each {
				mu.Lock()
				var pd *rdma.PD
				var cq *rdma.CQ
				var o rdma.Object = dev
				if len(pds) > 0 && len(cqs) > 0 && len(rest) > 0 {
					last := func(n int) int { return n - 1 - random.IntN(min(n, 6)) }
					pd, cq, o = pds[last(len(pds))], cqs[last(len(cqs))], rest[last(len(rest))]
				}
				mu.Unlock()
				switch k := random.IntN(10); {
				case pd == nil || k == 0:
					pd, err1 := dev.AllocPD()
					cq, err2 := dev.CreateCQ(1024, rdma.CQOptions{})
					judge(errors.Join(err1, err2))
					mu.Lock()
					pds, cqs, rest = append(pds, pd), append(cqs, cq), append(rest, pd, cq)
					mu.Unlock()
				case k < 4:
					qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 1, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
					judge(err)
					if err == nil {
						mu.Lock()
						rest = append(rest, qp)
						mu.Unlock()
					}
				case k < 6:
					judge(o.Close())
				case k < 7 && o != dev:
					judge(o.CloseAll())
				default:
					if qp, ok := o.(*rdma.QP); ok { // whose Query and Modify may meet Close
						_, err := qp.State()
						judge(err)
						judge(qp.ToReset())
					}
					if cq, ok := o.(*rdma.CQ); ok {
						judge(cq.Resize(1024 + random.IntN(8)))
					}
				}
			}
		})
	}
	wg.Wait()
	require.Empty(t, faults)
	for range workers {
		wg.Go(func() { judge(dev.CloseAll()) })
	}
	wg.Wait()
	require.Empty(t, faults)
	require.Equal(t, base, kernelHas(t, deviceName))
}
