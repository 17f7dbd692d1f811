//go:build !freebsd

package ibvtest

import (
	"math/rand/v2"
	"os"
	"strconv"
)

// Seed has the fabric draw the same numbers as another run's: those of a failed test,
// which says its seed if anything was drawn. All that the fabric decides by chance is
// drawn from it, such as delays and lost datagrams, so a program that makes the same
// calls in the same order meets the same faults. Several goroutines rarely do: what
// they post is drawn for in the order in which it comes. Without it, GOVERBS_SEED in the
// environment is the seed, and without that a number that is new each time.
func Seed(seed uint64) Option { return func(c *config) { c.seed = seed } }

// seedVariable is what the environment may have the seed in.
const seedVariable = "GOVERBS_SEED"

// defaultSeed is the seed where no option says one.
func defaultSeed() uint64 {
	if seed, err := strconv.ParseUint(os.Getenv(seedVariable), 10, 64); err == nil {
		return seed
	}
	return rand.Uint64()
}

// newRandom is the numbers of a seed.
func newRandom(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// tellSeed has a test that fails say the seed, if it may have to do with that.
func (f *Fabric) tellSeed(t T) {
	f.mu.Lock()
	drawn := f.drawn
	f.mu.Unlock()
	if drawn && t.Failed() {
		t.Logf("ibvtest: the fabric's seed was %d: ibvtest.Seed(%d), or %s=%d in the environment, draws the same again", f.seed, f.seed, seedVariable, f.seed)
	}
}
