//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// completion is one on its way to a program.
type completion struct {
	own       ownership
	wc        ibv.WC
	solicited bool  // wakes who waits for those alone
	at        int64 // when it came, in ns since 1970, for queues that tell
	// What is free when the program has it.
	slots      *slots
	free, life uint32
}

// polled is for when a program takes it.
func (c *completion) polled() {
	c.slots.free(c.free, c.life)
	c.own.polled()
}
