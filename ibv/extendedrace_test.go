//go:build race && !freebsd

package ibv_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// The race detector sees into batches and extended polls too.
func TestRacesOfExtendedAreSeen(t *testing.T) {
	e := newExtended(t)
	b := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 2, 1)
	for i := range 2 {
		require.NoError(t, b.Send(i, 1, 0))
		require.NoError(t, b.SetSGEs(i, ibv.SGE{}))
	}
	p := newExtendedPoll(t, e.cq(0, allFlags, false), allFields)
	wcs := make([]ibv.ExtendedWC, 4)
	post, poll := func() { _, _ = b.Post() }, func() { _, _ = p.Poll(wcs) }
	requireSeen(t, func() {
		e.play(extendedScript{loop: true})
		e.Call("extended_give", 0, 8, 0, 0)
	}, map[string]func(){
		"two post a batch":            both(post, post),
		"a batch is set while posted": both(post, func() { _ = b.SetWRID(1, 2) }),
		"a list is set while posted":  both(post, func() { _ = b.SetSGEs(1, ibv.SGE{Addr: 1}) }),
		"two poll into one slice":     both(poll, poll),
	})
}
