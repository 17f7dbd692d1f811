package rdma

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whoever takes a token looks for its event, even if the waiting is to end: nobody else would.
func TestTokenIsNotLost(t *testing.T) {
	for range 100 { // either of two that are ready is taken by chance
		come := make(chan struct{}, 1)
		w := &tokens{come: come, expired: make(chan struct{}), closed: make(chan struct{})}
		tries := 0
		err := w.wait(func() bool {
			tries++
			if tries == 1 {
				come <- struct{}{}
				w.expire()
			}
			return tries == 2
		})
		if err == nil {
			require.Equal(t, 2, tries)
			continue
		}
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
		require.Len(t, come, 1)
	}
}

// Waiting that is over calls nothing.
func TestTokensEnd(t *testing.T) {
	w := &tokens{expired: make(chan struct{}), closed: make(chan struct{})}
	never := func() bool {
		t.Error("it looked")
		return true
	}
	w.expire()
	w.expire()
	require.ErrorIs(t, w.wait(never), os.ErrDeadlineExceeded)
	w.close()
	w.close()
	require.Error(t, w.wait(never))
}
