package measure

import (
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestResult(t *testing.T) {
	var w strings.Builder
	require.NoError(t, result(&w, "Poll/impl=c/wr=1", 10, 8.256, "\t0 allocs/op"))
	require.Equal(t, "BenchmarkPoll/impl=c/wr=1\t10\t8.26 ns/op\t0 allocs/op\n", w.String())
	for _, ns := range []float64{0, 0.001, -1, math.NaN(), math.Inf(1)} {
		require.ErrorContains(t, result(io.Discard, "Poll/impl=c/wr=1", 10, ns, ""), "does not tell", "%g ns", ns)
	}
}

// TestBuilding has every figure of long chains say something, whatever clocks
// there are.
func TestBuilding(t *testing.T) {
	var w strings.Builder
	require.NoError(t, building(&w))
	for _, op := range []string{Build, BuildEach, Patch} {
		require.Equal(t, 2, strings.Count(w.String(), "Benchmark"+op+"/"), w.String())
	}
}
