//go:build !freebsd

package ibvtest

import (
	"math/rand/v2"
	"time"
)

// chances are what happens to messages by chance.
type chances struct {
	shortest, longest time.Duration
	loss, doubles     float64
}

// Delay has each message take a time that is drawn from shortest to longest. Messages
// of a queue pair stay in order, those of several do not.
func Delay(shortest, longest time.Duration) Option {
	return func(c *config) {
		c.chances.shortest, c.chances.longest = max(shortest, 0), max(shortest, longest, 0)
	}
}

// Loss has datagrams of UD be lost, and messages of UC, with a probability from 0 to 1.
// Those of RC are sent again, so that it takes them longer.
func Loss(probability float64) Option { return func(c *config) { c.chances.loss = probability } }

// Doubles has datagrams of UD arrive twice, with a probability from 0 to 1.
func Doubles(probability float64) Option { return func(c *config) { c.chances.doubles = probability } }

// draw decides what happens to a message. Each kind of chance is drawn whether or not
// another one has happened, so that what is drawn later does not depend on it.
func (c *chances) draw(random *rand.Rand, m *Message) {
	if c.longest > 0 {
		m.delay = c.shortest + time.Duration(random.Uint64N(uint64(c.longest-c.shortest)+1))
	}
	if c.loss > 0 {
		m.lost = random.Float64() < c.loss
	}
	if c.doubles > 0 {
		m.doubled = random.Float64() < c.doubles
	}
}
