//go:build linux

package rdma_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/mistakes"
)

// What is right is posted, in checked mode too: each of these is near to a mistake.
func TestInnocents(t *testing.T) {
	h := newCheckedHost(t)
	if h == nil {
		return
	}
	for _, i := range mistakes.Innocents() {
		t.Run(i.Name, func(t *testing.T) {
			h.start(t)
			require.NoError(t, i.Do(h.Rig))
		})
	}
}
