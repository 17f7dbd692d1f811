package model

import (
	"errors"
	"fmt"
	"time"
)

// Length is how many calls a sequence has that Check makes.
const Length = 60

// Check replays the sequence of the seed on the device. Where they disagree, the
// error has the seed, and the calls that are left when none can be taken away.
func (d *Device) Check(seed uint64) (Outcome, error) {
	s := Generate(seed, Length, d.Latitude)
	o, err := d.Replay(s)
	var disagreement *Disagreement
	if !errors.As(err, &disagreement) {
		return o, err
	}
	return o, fmt.Errorf("model: seed %d: %w", seed, d.explain(s, err))
}

// explain is the disagreement of the shortest part of the sequence that has one.
func (d *Device) explain(s Sequence, err error) error {
	// What is missing is waited for in each of some hundred tries.
	patience := d.Patience
	d.Patience = min(patience, 2*time.Second)
	until := time.Now().Add(time.Minute)
	defer func() { d.Patience = patience }()
	var first *Disagreement
	errors.As(err, &first)
	short := Shrink(s, func(s Sequence) bool {
		if time.Now().After(until) { // What is left then is not the least, but enough.
			return false
		}
		_, again := d.Replay(s)
		var found *Disagreement
		if !errors.As(again, &found) || found.kind() != first.kind() {
			return false
		}
		err = again
		return true
	})
	if len(short) == len(s) {
		if _, again := d.Replay(s); again == nil {
			return fmt.Errorf("%w\nThe same calls did not disagree again:\n%v", err, s)
		}
	}
	return fmt.Errorf("%w\nThese calls are enough:\n%v", err, short)
}
