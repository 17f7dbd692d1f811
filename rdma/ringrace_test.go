//go:build race

package rdma_test

import (
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
	"github.com/goverbs/goverbs/rdma"
)

// The race detector reports two goroutines on one ring.
func TestRacesOfRingsAreSeen(t *testing.T) {
	p := ringProvider(t)
	if p == nil {
		return
	}
	recvs, _ := recvRing(p, 4, 8)
	sends := sendRing(p, 4, 1)
	p.Play(script{Room: all, Completions: 2}) // for polls to take
	wcs := make([]ibv.WC, 2)
	races := map[string]func(){
		"two flush":         func() { _ = recvs.Flush() },
		"two release":       func() { _ = recvs.Release() },
		"two take messages": func() { _, _ = recvs.Poll(make([]rdma.Received, 1)) },
		"two poll":          func() { _, _ = recvs.PollWC(wcs) },
		"two add":           func() { _, _ = sends.Add(ibv.WRSend, 0) },
		"two post": func() {
			_, _ = sends.Add(ibv.WRSend, 0)
			_ = sends.Post()
		},
		"two look what is done": func() { _, _ = sends.Poll() },
	}
	const role = "RDMA_TEST_RACE"
	if one := races[os.Getenv(role)]; one != nil {
		var group sync.WaitGroup
		group.Go(one)
		group.Go(one)
		group.Wait()
		t.SkipNow() // nothing else is to happen here
	}
	for name := range races {
		cmd := emulated.Itself("-test.run=^" + t.Name() + "$")
		cmd.Env = append(os.Environ(), role+"="+name, "GORACE=halt_on_error=1 exitcode=66")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit, "%s: %s", name, out)
		require.Equal(t, 66, exit.ExitCode(), "%s: %s", name, out)
		require.Contains(t, string(out), "DATA RACE", name)
	}
}
