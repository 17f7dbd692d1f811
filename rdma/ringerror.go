package rdma

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// ErrRingFull is the error of adding to a [SendRing] all of whose work requests
// are outstanding: poll it first. It is syscall.EAGAIN too.
var ErrRingFull = error(tryAgain("all work requests are outstanding; poll the ring"))

// ErrNoCredit is the error of adding a message to a [SendRing] that has sent as many
// as [SendRing.SetLimit] allows: the peer has no receive posted for one more, as far
// as is known. It is syscall.EAGAIN too.
var ErrNoCredit = error(tryAgain("the peer has no receive for it; wait until it has told of more, see SetLimit"))

// tryAgain is why nothing can be added to a send ring now.
type tryAgain string

func (e tryAgain) Error() string { return "rdma: add to send ring: " + string(e) }
func (tryAgain) Unwrap() error   { return syscall.EAGAIN }

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
