//go:build !freebsd && !race

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// What the race detector is told: see race.go. Nobody listens here, and nothing is left of it.
type (
	ownership struct{}
	queueUse  struct{}
	peersUse  struct{}
	regionUse struct{}
	claims    struct{}
)

func (*queueUse) post(*Fabric, *ownership, *domain, []ibv.SGE, deviceUse) {}
func (*queueUse) end(*ownership, bool) ownership                          { return ownership{} }
func (*queueUse) stop()                                                   {}

func (*claims) made()      {}
func (*ownership) polled() {}

func (*peersUse) place(_, _ *ownership, _ []piece) {}
func (*peersUse) stop()                            {}

func (*peersUse) write(_ *ownership, _ *region, to piece, from []piece, _ bool) copied {
	return writeInOrder(to, from)
}

func (*peersUse) read(*ownership, *region, piece) {}

func (*peersUse) change(_ *ownership, _ *region, on piece, do func(word *uint64) uint64) (old uint64, there bool) {
	return atomically(on, do)
}

func (*regionUse) releases() {}
func (*regionUse) closes()   {}
