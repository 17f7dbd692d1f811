//go:build unix

package ibv_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// processorTime is how long the process has run.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var usage unix.Rusage
	require.NoError(t, unix.Getrusage(unix.RUSAGE_SELF, &usage))
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// Time in C has no function of Go's above it in a profile; labels tell where it
// was spent.
func TestProfileLabels(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Call("provider_measure")
	chain := recvChain(t, 64, 1)
	file := filepath.Join(t.TempDir(), "cpu.prof")
	f, err := os.Create(file)
	require.NoError(t, err)
	require.NoError(t, pprof.StartCPUProfile(f))
	pprof.Do(t.Context(), pprof.Labels("verbs", "receives"), func(context.Context) {
		for end := processorTime(t) + time.Second/2; processorTime(t) < end; {
			for range 10_000 {
				_, _ = chain.Post(p.QP)
			}
		}
	})
	pprof.StopCPUProfile()
	require.NoError(t, f.Close())
	out, err := exec.Command("go", "tool", "pprof", "-tags", os.Args[0], file).CombinedOutput()
	require.NoError(t, err, "%s", out)
	share := regexp.MustCompile(`verbs: Total .*\( *([0-9.]+)%\)`).FindSubmatch(out)
	require.NotNil(t, share, "%s", out)
	percent, err := strconv.ParseFloat(string(share[1]), 64)
	require.NoError(t, err)
	require.Greater(t, percent, 50.0, "%s", out)
}
