package measure

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
	"unsafe"

	"github.com/goverbs/goverbs/bench/internal/cputime"
	"github.com/goverbs/goverbs/bench/internal/subject"
	"github.com/goverbs/goverbs/ibv"
)

// Build is making a chain over a memory region, BuildEach making it and giving
// each work request its buffer, Patch giving all of them new buffers, and Fill is
// what they are compared with: filling as much memory.
const (
	Build     = "Build"
	BuildEach = "BuildEach"
	Patch     = "Patch"
	Fill      = "memory-fill"
)

const (
	longChain   = 1_000_000
	buildRounds = 5
	bufferSize  = 4096
	words       = longChain * int(unsafe.Sizeof(ibv.RecvWR{})+unsafe.Sizeof(ibv.SGE{})) / 8
)

// shortest is how long the shortest of these takes on a fast machine.
const shortest = 2 * time.Millisecond

// building measures a chain of a million receives, by the time that the
// processor spends on it: it takes long enough for others to interrupt it.
func building(w io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	clock, err := cputime.Choose(shortest)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "builds-timed-by: %s, whose steps are %v\n", clock.Name, clock.Resolution)
	// Nothing here looks at the memory that is registered.
	mr := &ibv.MR{Length: longChain * bufferSize, LKey: 1}
	var chain *ibv.RecvChain
	var block []uint64
	// What it was is dropped first, so that all of it is new memory, each time.
	drop := func() {
		chain, block = nil, nil
		runtime.GC()
	}
	works := []struct {
		ops     []string // that it is a figure of
		impl    string
		prepare func()
		work    func() error
	}{
		{[]string{Build}, subject.Goverbs, drop, func() (err error) {
			chain, err = mr.RecvChain(longChain, bufferSize)
			return err
		}},
		{[]string{BuildEach}, subject.Goverbs, drop, func() (err error) {
			if chain, err = ibv.NewRecvChain(longChain, 1); err != nil {
				return err
			}
			return set(chain, 0)
		}},
		{[]string{Patch}, subject.Goverbs, nil, func() error { return set(chain, 1) }},
		{[]string{Build, BuildEach}, Fill, drop, func() error {
			block = make([]uint64, words)
			fill(block, 0)
			return nil
		}},
		{[]string{Patch}, Fill, nil, func() error {
			fill(block, 1)
			return nil
		}},
	}
	samples := make([][]float64, len(works))
	for range buildRounds {
		for i, m := range works {
			took, err := clock.Time(m.prepare, m.work)
			if err != nil {
				return err
			}
			samples[i] = append(samples[i], float64(took.Nanoseconds())/longChain)
		}
	}
	for i, m := range works {
		slices.Sort(samples[i])
		for _, op := range m.ops {
			name := fmt.Sprintf("%s/impl=%s/wr=%d", op, m.impl, longChain)
			if err := result(w, name, buildRounds*longChain, samples[i][buildRounds/2], ""); err != nil {
				return err
			}
		}
	}
	return nil
}

// set gives every work request a buffer.
func set(chain *ibv.RecvChain, start uint64) error {
	for i := range chain.Len() {
		sge := ibv.SGE{Addr: start + uint64(i)*bufferSize, Length: bufferSize, LKey: 1}
		if err := chain.Set(i, uint64(i), sge); err != nil {
			return err
		}
	}
	return nil
}

// fill writes every word.
func fill(block []uint64, start uint64) {
	for i := range block {
		block[i] = start + uint64(i)
	}
}
