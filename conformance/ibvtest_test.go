//go:build !freebsd

package conformance

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibvtest"
)

func init() {
	newDevice = func(t *testing.T) string { return ibvtest.New(t).Names()[0] }
}

const (
	unflushed    = "flushing: posts in the error state flush"
	takenInReset = "posting: receives are refused in RESET"
	recvsGoOn    = "posting: receives before a refused one are posted, and posting goes on"
	sendsGoOn    = "posting: sends before a refused one are posted, and posting goes on"
	fullOfRecv   = "posting: a full receive queue refuses and loses nothing"
	fullOfSend   = "posting: a full send queue refuses and loses nothing"
	fullOfShared = "srq: full"
)

// peculiar is the scenarios that a device cannot pass which behaves as a provider does.
var peculiar = map[string][]string{
	ibvtest.Rxe.Name:   {unflushed},
	ibvtest.Rxe39.Name: {takenInReset, unflushed},
	ibvtest.MLX5.Name:  {takenInReset},
	ibvtest.MLX4.Name:  {takenInReset},
	ibvtest.MTHCA.Name: {takenInReset},
	ibvtest.IRDMA.Name: {recvsGoOn, sendsGoOn, fullOfRecv, fullOfSend, takenInReset, fullOfShared}, // it does not say what it refused
}

// In whatever way a provider refuses work requests, programs see the same, but for what it is known for.
func TestProviders(t *testing.T) {
	for _, provider := range ibvtest.Providers() {
		if provider.Name == "" || provider.IWARP {
			continue // TestDevice has the first; and iWARP connects by librdmacm, which there is none of
		}
		t.Run(provider.Name, func(t *testing.T) { passInBubble(t, peculiar[provider.Name], ibvtest.As(provider)) })
	}
}

// A device of InfiniBand passes what one of RoCE does.
func TestInfiniBand(t *testing.T) { passInBubble(t, nil, ibvtest.InfiniBand()) }

// passInBubble has a device in the process pass all scenarios but those that are known to fail, where nothing takes time,
// whatever else the machine does.
func passInBubble(t *testing.T, fail []string, opts ...ibvtest.Option) {
	if *devices != inProcess {
		t.Skip("-device names another one")
	}
	synctest.Test(t, func(t *testing.T) {
		device := ibvtest.New(t, opts...).Names()[0]
		var failed []string
		for _, s := range Scenarios() {
			if result := s.run(device, Options{}); result.Status == Failed {
				name := s.Group + ": " + s.Name
				if failed = append(failed, name); !slices.Contains(fail, name) {
					t.Logf("%s: %s", name, result.Reason)
				}
			}
		}
		require.ElementsMatch(t, fail, failed)
	})
}
