package conformance

import "github.com/goverbs/goverbs/ibv"

// What devices may do without.
var (
	// ImmediateData is 32 bits beside a message, or beside a write.
	ImmediateData = &Property{Name: "immediate data", lacks: func(t *T) string {
		if t.provider.IWARP {
			return "iWARP has no immediate data"
		}
		return ""
	}}
	// Atomics is compare-and-swap and fetch-and-add on a peer's memory.
	Atomics = &Property{Name: "atomic operations", lacks: func(t *T) string {
		if t.Attr().AtomicCap == ibv.AtomicNone {
			return "the device says that it has no atomic operations"
		}
		return ""
	}}
)
