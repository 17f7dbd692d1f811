package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// The Event that comes with an error is none, though its type is the number of one.
func TestNoEvent(t *testing.T) {
	require.Equal(t, "no event", Event{}.String())
	require.Zero(t, ibv.EventCQErr)
	require.Contains(t, Event{Type: ibv.EventPortActive, Port: 1}.String(), "asynchronous event")
}
