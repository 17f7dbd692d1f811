package measure

import (
	"fmt"
	"io"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync/atomic"
	"time"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/ibv"
)

// Stop is how long the garbage collector waits until the other goroutines have
// stopped, and Slice how long a goroutine waits for another to make way on the only
// processor, while one does nothing but what the implementation says. Preempt is
// the measurement of both.
const (
	Preempt = "Preempt"
	Stop    = "Stop"
	Slice   = "Slice"
)

// What the goroutine does, in the order of reports.
const (
	NoLoop   = "none"
	GoLoop   = "go" // counts
	PostLoop = "post"
	PollLoop = "poll" // finds nothing
	BothLoop = "both"
)

// Loops is all of them.
func Loops() []string { return []string{NoLoop, GoLoop, PostLoop, PollLoop, BothLoop} }

const (
	stopSamples, sliceSamples = 200, 50
	// patience is when samples will do that are fewer.
	patience = 3 * time.Second
	// longest is when a loop ends by itself: one that makes no way would never hear
	// that it should.
	longest = 8 * time.Second
)

// preemption measures every loop.
func preemption(w io.Writer, d device.Device) error {
	e, err := d.Endless()
	if err != nil {
		return err
	}
	for _, name := range Loops() {
		l := newLoop(e, name)
		if err := l.write(w, Stop, 2, l.stops); err != nil {
			return err
		}
		if err := l.write(w, Slice, 1, l.slices); err != nil {
			return err
		}
	}
	return nil
}

// loop is what a goroutine does until it is told to quit.
type loop struct {
	*device.Endless
	name  string
	run   func() // nil: nothing
	wcs   []ibv.WC
	limit int // iterations, after which it ends by itself
	quit  atomic.Bool
	ended atomic.Bool
}

func newLoop(e *device.Endless, name string) *loop {
	l := &loop{Endless: e, name: name, wcs: make([]ibv.WC, 16)}
	l.run = map[string]func(){GoLoop: l.count, PostLoop: l.post, PollLoop: l.poll, BothLoop: l.both}[name]
	if l.run != nil {
		const few = 1000
		l.limit = few
		start := time.Now()
		l.run()
		each := max(time.Since(start)/few, 1)
		l.limit = int(longest / each)
	}
	return l
}

// The loops call nothing that the compiler does not inline, so they have no other
// place to make way than what they measure brings along.

func (l *loop) count() {
	for i := 0; i < l.limit && !l.quit.Load(); i++ {
	}
}

func (l *loop) post() {
	for i := 0; i < l.limit && !l.quit.Load(); i++ {
		if _, err := l.Sends.Post(l.QP); err != nil {
			return
		}
	}
}

func (l *loop) poll() {
	for i := 0; i < l.limit && !l.quit.Load(); i++ {
		if _, err := l.CQ.Poll(l.wcs); err != nil {
			return
		}
	}
}

func (l *loop) both() {
	for i := 0; i < l.limit && !l.quit.Load(); i++ {
		if _, err := l.Sends.Post(l.QP); err != nil {
			return
		}
		if _, err := l.CQ.Poll(l.wcs); err != nil {
			return
		}
	}
}

// write measures on so many processors of Go's, and writes the median and the
// longest of what was waited.
func (l *loop) write(w io.Writer, op string, procs int, measure func() (n int, median, worst time.Duration)) error {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	l.quit.Store(false)
	l.ended.Store(false)
	done := make(chan struct{})
	go func() {
		defer close(done)
		if l.run != nil {
			l.run()
			l.ended.Store(true)
		}
	}()
	n, median, worst := measure()
	l.quit.Store(true)
	<-done
	if n == 0 {
		return fmt.Errorf("%s: the loop %q ended before anybody waited for it", op, l.name)
	}
	name := fmt.Sprintf("%s/impl=%s/procs=%d", op, l.name, procs)
	return result(w, name, n, float64(median.Nanoseconds()), fmt.Sprintf("\t%d worst-ns/op", worst.Nanoseconds()))
}

// more reports whether another sample is to be taken.
func (l *loop) more(n, wanted int, start time.Time) bool {
	return n < wanted && time.Since(start) < patience && !l.ended.Load()
}

// stops has the collector stop the world.
func (l *loop) stops() (n int, median, worst time.Duration) {
	time.Sleep(10 * time.Millisecond) // it is in its loop then
	start, before := time.Now(), stopTimes()
	for i := 0; i == 0 || l.more(i, stopSamples, start); i++ {
		runtime.GC()
	}
	return since(before, stopTimes())
}

// slices lets the loop have the processor.
func (l *loop) slices() (n int, median, worst time.Duration) {
	var all []time.Duration
	for start := time.Now(); len(all) == 0 || l.more(len(all), sliceSamples, start); {
		begin := time.Now()
		runtime.Gosched()
		all = append(all, time.Since(begin))
	}
	slices.Sort(all)
	return len(all), all[len(all)/2], all[len(all)-1]
}

// stopTimes is the runtime's own account of how long its stops took to come about.
func stopTimes() *metrics.Float64Histogram {
	sample := []metrics.Sample{{Name: "/sched/pauses/stopping/gc:seconds"}}
	metrics.Read(sample)
	return sample[0].Value.Float64Histogram()
}

// since is what was added to a histogram: how many, and at most how long the median
// and the longest took.
func since(before, after *metrics.Float64Histogram) (n int, median, worst time.Duration) {
	added := make([]int, len(after.Counts))
	for i := range added {
		added[i] = int(after.Counts[i] - before.Counts[i])
		n += added[i]
	}
	sum := 0
	for i, count := range added {
		if count == 0 {
			continue
		}
		end := after.Buckets[i+1]
		if math.IsInf(end, 1) {
			end = after.Buckets[i]
		}
		worst = time.Duration(end * 1e9)
		if sum <= n/2 && n/2 < sum+count {
			median = worst
		}
		sum += count
	}
	return n, median, worst
}
