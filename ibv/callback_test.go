//go:build linux && !s390x

package ibv_test

import (
	"os"
	"testing"

	"github.com/ebitengine/purego"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/emulated"
)

// A provider's function that leads to Go ends the process where C is called
// directly, and the report names the call. The portable way has no such limit.
func TestGoInTheProvider(t *testing.T) {
	const role = "IBV_TEST_GO_IN_THE_PROVIDER"
	if os.Getenv(role) != "" {
		ctx := &ibv.Context{}
		ctx.Ops.PollCQ = ibv.FuncPtr(purego.NewCallback(func(_, _, _ uintptr) uintptr { return 0 }))
		n, err := (&ibv.CQ{Context: ctx}).Poll(make([]ibv.WC, 1))
		require.NoError(t, err)
		require.Zero(t, n)
		return
	}
	for _, way := range []string{os.Getenv("GOVERBS_CCALL"), "portable"} {
		cmd := emulated.Itself("-test.run=^TestGoInTheProvider$")
		cmd.Env = append(os.Environ(), role+"=1", "GOVERBS_CCALL="+way)
		out, err := cmd.CombinedOutput()
		if way == "portable" || !ccall.Direct() {
			require.NoError(t, err, "%s", out)
			continue
		}
		require.Error(t, err)
		require.Contains(t, string(out), "fatal error: ")
		require.Contains(t, string(out), "ibv.(*CQ).Poll(")
	}
}
