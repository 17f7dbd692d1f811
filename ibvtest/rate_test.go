//go:build linux && !android

package ibvtest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/internal/ccall"
)

// Without a library, rates are what the library says that they are.
func TestRatesAreTheLibrarys(t *testing.T) {
	for name, most := range map[string]uintptr{
		"ibv_rate_to_mult": 40, "ibv_rate_to_mbps": 40, "mult_to_ibv_rate": 1000, "mbps_to_ibv_rate": 1_300_000,
	} {
		address, err := (&clib.Function{Library: &libibverbs, Name: name}).Address()
		require.NoError(t, err)
		real := clib.Pointer{Name: name, Address: address}
		for n := range most {
			sameAsLibrary(t, name, real, n)
		}
	}
}

func sameAsLibrary(t *testing.T, name string, real clib.Pointer, n uintptr) {
	t.Helper()
	want, err := real.Value(n)
	require.NoError(t, err)
	got, _ := objectless[name](ccall.Args{n})
	if int32(want) != int32(got) { // a million times
		require.Failf(t, "another rate", "%s(%d) is %d, not %d", name, n, int32(got), int32(want))
	}
}
