package conformance

import "runtime"

// Property is something that a device may have or do without, or do in its own way.
type Property struct {
	// Name says what a device has or does that is as the specification has it.
	Name string
	// lacks says why the device has it not, or is "": what a scenario that needs it asks.
	// It is nil of a way of doing things, which scenarios see by themselves.
	lacks func(t *T) string
}

// Difference is where a provider differs from the rest, and why it may.
type Difference struct {
	Property *Property
	// Provider is a provider's name, or iWARP for all whose devices speak it.
	Provider string
	// Before is the release of rdma-core where the difference ended, or 0.
	Before int
	Reason string
}

// iWARP stands for all providers of iWARP devices.
const iWARP = "iWARP"

// judged is the providers of which the table knows everything: what they do without,
// and is not in it, fails.
var judged = []string{"rxe", "siw", inProcess}

// differences is the one place that says where providers differ.
var differences = []Difference{
	{ImmediateData, iWARP, 0, "iWARP has no immediate data"},
}

// Differences is all that is known of where providers differ from what scenarios expect
// otherwise, with the reasons.
func Differences() []Difference { return append([]Difference(nil), differences...) }

// difference is the table's entry for this provider.
func (p Provider) difference(property *Property) (Difference, bool) {
	for _, d := range differences {
		if d.Property != property || d.Provider != p.Name && !(d.Provider == iWARP && p.IWARP) {
			continue
		}
		if d.Before == 0 || p.Release != 0 && p.Release < d.Before {
			return d, true
		}
	}
	return Difference{}, false
}

// Differs reports whether the provider does it in a way of its own, by the table. The
// scenario then requires that way, so that a difference that has gone fails.
func (t *T) Differs(property *Property) bool {
	d, differs := t.provider.difference(property)
	if differs {
		t.Logf("differs: %s", d.Reason)
	}
	return differs
}

// Needs ends the scenario as not supported where the device has it not. What a provider
// is known to do without must really be missing, and what it is known to have be there.
func (t *T) Needs(properties ...*Property) {
	for _, p := range properties {
		lacks := p.lacks(t)
		d, differs := t.provider.difference(p)
		switch {
		case differs && lacks == "":
			t.Errorf("the table of differences says of %v: %s. That is not so any more: %s is there", t.provider, d.Reason, p.Name)
			t.FailNow()
		case differs:
			t.lacks = d.Reason
			runtime.Goexit()
		case lacks != "":
			t.NotSupported("%s", lacks)
		}
	}
}
