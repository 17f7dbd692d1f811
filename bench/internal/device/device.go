// Package device is what posts go to: objects of a provider, and ways to empty
// and to fill their queues between measurements.
package device

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// Device has one object of each kind. Only one goroutine may use it.
type Device interface {
	// Name is the device's, or the stub's.
	Name() string
	QP() *ibv.QP
	SRQ() *ibv.SRQ
	CQ() *ibv.CQ
	// SGE is a buffer that receives may name.
	SGE() ibv.SGE

	// RecvRoom, SRQRoom and SendRoom are how many work requests may be posted
	// between two calls of the matching Take. 0: such posts cannot be measured here.
	RecvRoom() int
	SRQRoom() int
	SendRoom() int

	// TakeRecvs empties the receive queue. It fails if not exactly n were in it.
	TakeRecvs(n int) error
	// TakeSRQRecvs empties the shared receive queue. It fails if fewer than n were in it.
	TakeSRQRecvs(n int) error
	// TakeSends empties the send queue. It fails if not exactly n were in it.
	TakeSends(n int) error
	// Complete puts n completions, up to RecvRoom, on CQ, which must be empty. A
	// device may take its time, so that not all of them are there on return.
	Complete(n int) error
	// DropCompletions empties CQ.
	DropCompletions() error
	// Handles are of QP, SRQ and CQ, or nil where there can be none.
	Handles() *Handles
	// Ring is a receive ring, or nil where there can be none.
	Ring() *Ring
	// Extended has C's extended functions for posts and polls. It is nil where there
	// are none.
	Extended() (*Extended, error)
	// Pair makes two queue pairs that are connected to each other, RC or UD, for
	// rounds of so many messages of size bytes, a multiple of 8. It is nil where
	// there can be none. Close closes it.
	Pair(typ ibv.QPType, messages, size int) (*Pair, error)
	// Wakers makes two connected queue pairs that wake each other: with handles to wait
	// with, or for C. Close closes them.
	Wakers(handles bool) (*Wakers, error)
	// Endless is for loops that never end by themselves.
	Endless() (*Endless, error)

	Close() error
}

// Endless is a queue pair whose send queue does not fill, and a completion queue
// that stays empty.
type Endless struct {
	QP    *ibv.QP
	Sends *ibv.SendChain // a post of them takes about a microsecond, or a system call
	CQ    *ibv.CQ
}

// Open opens the device of that name, or makes a [Stub] for "".
func Open(name string) (Device, error) {
	if name == "" {
		return newStub()
	}
	return newReal(name)
}

// counted is an error unless as many work requests were taken as were posted.
func counted(what string, taken, posted int) error {
	if taken != posted {
		return fmt.Errorf("%d %s were posted, but %d were in the queue", posted, what, taken)
	}
	return nil
}

// drop takes completions off a queue until there are none.
func drop(cq *ibv.CQ, wcs []ibv.WC) error {
	for {
		if n, err := cq.Poll(wcs); n == 0 || err != nil {
			return err
		}
	}
}
