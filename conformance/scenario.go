package conformance

import "slices"

// Scenario is one thing that devices do, and how to see that they do it.
type Scenario struct {
	// Group is what it is about, and Name says what happens. Both are a few words, and
	// together they name it.
	Group, Name string
	// Basis is what says so: manual pages, or chapters of the InfiniBand Architecture
	// Specification, volume 1 (IBTA), or of iWARP's RFCs.
	Basis string
	// Run does it. It must be able to fail.
	Run func(t *T)
}

// String is the group and the name.
func (s Scenario) String() string { return s.Group + ": " + s.Name }

// Scenarios is all there are, in the order in which they run.
func Scenarios() []Scenario {
	return slices.Concat(
		messages,
		rdmaOperations,
		datagrams,
		protection,
		posting,
		flushing,
		retries,
		states,
		lifetimes,
		objects,
	)
}
