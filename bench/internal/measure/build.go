package measure

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"syscall"
	"time"
	"unsafe"

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

// building measures a chain of a million receives, by the time that the
// processor spends on it: it takes long enough for others to interrupt it.
func building(w io.Writer) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var build, buildEach, patch, fillNew, fillOld []float64
	// Nothing here looks at the memory that is registered.
	mr := &ibv.MR{Length: longChain * bufferSize, LKey: 1}
	for range buildRounds {
		runtime.GC() // so that all of it is new memory, each time
		start := threadTime()
		chain, err := mr.RecvChain(longChain, bufferSize)
		if err != nil {
			return err
		}
		build = append(build, each(start))
		runtime.KeepAlive(chain)
		chain = nil

		runtime.GC()
		start = threadTime()
		chain, err = ibv.NewRecvChain(longChain, 1)
		if err != nil {
			return err
		}
		if err := set(chain, 0); err != nil {
			return err
		}
		buildEach = append(buildEach, each(start))
		start = threadTime()
		if err := set(chain, 1); err != nil {
			return err
		}
		patch = append(patch, each(start))
		runtime.KeepAlive(chain)
		chain = nil

		runtime.GC()
		start = threadTime()
		block := make([]uint64, words)
		fill(block, 0)
		fillNew = append(fillNew, each(start))
		start = threadTime()
		fill(block, 1)
		fillOld = append(fillOld, each(start))
		runtime.KeepAlive(block)
	}
	for _, m := range []struct {
		op, impl string
		samples  []float64
	}{
		{Build, subject.Goverbs, build}, {Build, Fill, fillNew},
		{BuildEach, subject.Goverbs, buildEach}, {BuildEach, Fill, fillNew},
		{Patch, subject.Goverbs, patch}, {Patch, Fill, fillOld},
	} {
		slices.Sort(m.samples)
		fmt.Fprintf(w, "Benchmark%s/impl=%s/wr=%d\t%d\t%.2f ns/op\n", m.op, m.impl, longChain, buildRounds*longChain, m.samples[buildRounds/2])
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

// each is the nanoseconds since start for each work request.
func each(start time.Duration) float64 {
	return float64((threadTime() - start).Nanoseconds()) / longChain
}

// threadTime is the time that the processor has spent on this thread.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD
	var usage syscall.Rusage
	if err := syscall.Getrusage(thread, &usage); err != nil {
		panic(err) // Linux has known it for long
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
