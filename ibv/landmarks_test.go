package ibv

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/headers"
)

func TestReleaseOf(t *testing.T) {
	for file, want := range map[string]string{
		"/usr/lib/x86_64-linux-gnu/libibverbs.so.1.14.44.0":        "44.0",
		"/nix/store/0c-rdma-core-61.1/lib/libibverbs.so.1.15.61.1": "61.1",
		"libibverbs.so.1.18.65.0.1":                                "65.0.1",
		"/usr/lib/libibverbs.so.1":                                 "",
		"/usr/lib/libibverbs.so.1.0.0":                             "", // from before rdma-core
		"/usr/lib/libibverbs.so.1.14":                              "",
		"/usr/lib/libibverbs.so.1.14.44.0.old":                     "",
		"/usr/lib/libibverbs.so":                                   "",
		"/opt/libibverbs.so.1.14.44.0/any":                         "",
		"":                                                         "",
	} {
		require.Equal(t, want, releaseOf(file), file)
	}
}

// What each release declares tells it from those before and after it, wherever the table says so.
func TestLandmarks(t *testing.T) {
	require.True(t, slices.IsSortedFunc(landmarks, func(a, b struct{ function, since string }) int {
		return strings.Compare(a.since, b.since) // all have two digits before the point
	}))
	providersOf := map[string][]string{"verbs_register_driver_33": {"33.2"}, "verbs_register_driver_57": {"58.0"}}
	for _, release := range headers.Releases() {
		if strings.HasPrefix(release, "freebsd") {
			continue
		}
		compressed, err := headers.Facts(release)
		require.NoError(t, err)
		r, err := gzip.NewReader(bytes.NewReader(compressed))
		require.NoError(t, err)
		facts, err := io.ReadAll(r)
		require.NoError(t, err)
		has := func(function string) bool {
			if private := providersOf[function]; private != nil { // which verbs.h does not declare
				return slices.Contains(private, release)
			}
			return bytes.Contains(facts, []byte(`"name": "`+function+`"`))
		}
		since, before := releasesWith(has)
		require.LessOrEqual(t, since, release)
		if before != "" {
			require.Less(t, release, before)
		}
		for _, l := range landmarks {
			if !strings.HasPrefix(l.function, "verbs_") {
				require.Equal(t, l.since <= release, has(l.function), "%s in %s", l.function, release)
			}
		}
	}
	since, before := releasesWith(func(string) bool { return false })
	require.Empty(t, since)
	require.Equal(t, landmarks[0].since, before)
}
