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

// Delay has each message take a time that is drawn from shortest, which is not below 0,
// to longest, which is not below that. Messages of a queue pair stay in order, those of
// several do not.
func Delay(shortest, longest time.Duration) Option {
	return func(c *config) {
		if shortest < 0 || longest < shortest {
			c.refuse("Delay(%v, %v): the shortest delay is 0 or more, and the longest no shorter than that", shortest, longest)
			return
		}
		c.chances.shortest, c.chances.longest = shortest, longest
	}
}

// Loss has datagrams of UD be lost, and messages of UC, with a probability from 0 to 1.
// Those of RC are sent again, so that it takes them longer.
func Loss(probability float64) Option {
	return func(c *config) { c.probability("Loss", probability, &c.chances.loss) }
}

// Doubles has datagrams of UD arrive twice, with a probability from 0 to 1.
func Doubles(probability float64) Option {
	return func(c *config) { c.probability("Doubles", probability, &c.chances.doubles) }
}

// probability takes an option's, if it is one.
func (c *config) probability(option string, p float64, to *float64) {
	if !(p >= 0 && p <= 1) { // as NaN is not either
		c.refuse("%s(%v): a probability is from 0 to 1", option, p)
		return
	}
	*to = p
}

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
