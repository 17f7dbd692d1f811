package measure

import (
	"math"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/bench/internal/device"
)

func TestSince(t *testing.T) {
	buckets := []float64{0, 1e-6, 1e-3, 1, math.Inf(1)}
	before := &metrics.Float64Histogram{Counts: []uint64{5, 0, 1, 0}, Buckets: buckets}
	n, median, worst := since(before, &metrics.Float64Histogram{Counts: []uint64{7, 3, 2, 0}, Buckets: buckets})
	require.Equal(t, 6, n)
	require.Equal(t, time.Millisecond, median) // 2 of 1 µs, 3 of 1 ms, 1 of 1 s
	require.Equal(t, time.Second, worst)
	n, _, worst = since(before, &metrics.Float64Histogram{Counts: []uint64{5, 0, 1, 1}, Buckets: buckets})
	require.Equal(t, 1, n)
	require.Equal(t, time.Second, worst)
	n, _, _ = since(before, before)
	require.Zero(t, n)
}

// TestLoopsGoOn sees to it that no loop ends for another reason than its own.
func TestLoopsGoOn(t *testing.T) {
	d, err := device.Open("")
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	e, err := d.Endless()
	require.NoError(t, err)
	for range 3 * 4096 / e.Sends.Len() {
		accepted, err := e.Sends.Post(e.QP)
		require.NoError(t, err)
		require.Equal(t, e.Sends.Len(), accepted)
	}
	for _, name := range Loops() {
		l := newLoop(e, name)
		require.Equal(t, name == NoLoop, l.run == nil)
		if l.run != nil {
			require.Greater(t, l.limit, 1000, "%s is too slow to be asked to quit", name)
		}
	}
}
