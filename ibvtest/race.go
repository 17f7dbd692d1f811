//go:build !freebsd && race

package ibvtest

// regionUse is how the race detector knows a region.
type regionUse struct{}

func (*regionUse) releases() {}
func (*regionUse) closes()   {}
