package model

import (
	"flag"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	device    = flag.String("device", "", "the device to compare with the model")
	first     = flag.Uint64("seed", 0, "the seed of the first sequence; 0 is 1 for a device, and any for one in the process")
	sequences = flag.Int("sequences", 100, "how many sequences to replay on the device")
	all       = flag.Bool("all", false, "go on after a disagreement, which is not shrunk then")
	patience  = flag.Duration("patience", 30*time.Second, "how long a completion may take")
)

// A device does what the model says, whatever the calls.
func TestDevice(t *testing.T) {
	if *device == "" {
		t.Skip("pass -device NAME: go test ./conformance/model -device rxe0")
	}
	d, err := Open(*device)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	d.Patience = *patience
	replayAll(t, d, max(*first, 1), *sequences)
}

// replayAll replays sequences by their seeds.
func replayAll(t *testing.T, d *Device, first uint64, n int) {
	var total Outcome
	ended := 0
	for seed := first; seed < first+uint64(n); seed++ {
		check := d.Check
		if *all {
			check = func(seed uint64) (Outcome, error) { return d.Replay(Generate(seed, Length, d.Latitude)) }
		}
		o, err := check(seed)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
			if !*all {
				break
			}
		}
		total.Calls += o.Calls
		total.Completed += o.Completed
		total.Refused += o.Refused
		if o.Undefined != "" {
			ended++
		}
	}
	t.Logf("%d sequences from seed %d on: %d calls, %d of them refused, %d completions; %d ended early", n, first, total.Calls, total.Refused, total.Completed, ended)
}
