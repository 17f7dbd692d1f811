package rdma

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// ForeignError is completions that a ring found on its completion queue and that
// are not the ring's: something else uses the queue, which must be the ring's
// alone. It is syscall.EINVAL too.
type ForeignError struct {
	Op string // "poll receive ring" or "poll send ring"
	// WCs is all of these completions, in the order in which they came. They are off
	// the queue, so whoever waits for them must get them from here.
	WCs []ibv.WC
}

// Error describes the first of them.
func (e *ForeignError) Error() string {
	text := "rdma: " + e.Op + ": a completion is not the ring's, whose completion queue must be its own"
	if len(e.WCs) > 0 {
		wc := &e.WCs[0]
		text += fmt.Sprintf(": WRID %#x, queue pair %#x, status %v; %d such in all", wc.WRID, wc.QPNum, wc.Status, len(e.WCs))
	}
	return text
}

// Unwrap gives the errno.
func (e *ForeignError) Unwrap() error { return syscall.EINVAL }

// both joins two errors, either of which may be nil.
func both(a, b error) error {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return errors.Join(a, b)
}
