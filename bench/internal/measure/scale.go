package measure

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/subject"
)

// Scale is posting from several goroutines at a time, each to a queue pair of
// its own.
const Scale = "Scale"

// goroutines is how many.
var goroutines = []int{1, 2, 4, 8}

// scaleRounds is how many rounds each goroutine makes before the other
// implementation's turn.
const scaleRounds = 50

// scaling measures posts of one receive, in C and in Go, while so many
// goroutines make them. What they shared would make each of them slower; that
// processors are shared by more goroutines than there are does not count, as it
// hits less than half of the rounds.
func scaling(w io.Writer, tickLength float64, rounds int) error {
	// As in C, the kernel is to share the processors, and not Go's scheduler too.
	most := slices.Max(goroutines)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(most, runtime.NumCPU())))
	for _, n := range goroutines {
		if err := scalingTo(w, n, tickLength, rounds); err != nil {
			return err
		}
	}
	return nil
}

func scalingTo(w io.Writer, n int, tickLength float64, rounds int) (err error) {
	var inC, inGo []*subject.Subject // by goroutine
	for range n {
		d, err := device.Open("")
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, d.Close()) }()
		all, err := subject.Of(d, subject.PostRecv, 1)
		if err != nil {
			return err
		}
		for _, s := range all {
			switch s.Impl {
			case subject.C:
				inC = append(inC, s)
			case subject.Goverbs:
				inGo = append(inGo, s)
			}
		}
	}
	if len(inC) == 0 {
		return nil // not this process
	}
	var ticksC, ticksGo []int64
	for round := range 1 + (rounds+scaleRounds-1)/scaleRounds {
		c, err := together(inC)
		if err != nil {
			return err
		}
		g, err := together(inGo)
		if err != nil {
			return err
		}
		if round > 0 { // the first warms up
			ticksC, ticksGo = append(ticksC, c...), append(ticksGo, g...)
		}
	}
	for _, m := range []struct {
		s     *subject.Subject
		ticks []int64
	}{{inC[0], ticksC}, {inGo[0], ticksGo}} {
		slices.Sort(m.ticks)
		name := fmt.Sprintf("%s/impl=%s/goroutines=%d", Scale, m.s.Impl, n)
		if err := result(w, name, len(m.ticks)*m.s.Calls, m.s.Nanoseconds(m.ticks[len(m.ticks)/2], tickLength), ""); err != nil {
			return err
		}
	}
	return nil
}

// together makes rounds of all subjects at a time, each in a goroutine with a
// thread, as in C, and returns what the rounds took.
func together(subjects []*subject.Subject) ([]int64, error) {
	var all []int64
	var failed error
	var mu sync.Mutex // guards both
	var start, done sync.WaitGroup
	start.Add(1)
	for _, s := range subjects {
		done.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			start.Wait()
			var mine []int64
			for range scaleRounds {
				ticks, err := s.Round()
				if err != nil {
					mu.Lock()
					failed = errors.Join(failed, err)
					mu.Unlock()
					return
				}
				mine = append(mine, ticks)
			}
			mu.Lock()
			all = append(all, mine...)
			mu.Unlock()
		})
	}
	start.Done()
	done.Wait()
	return all, failed
}
