package rdma

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// Channel is a completion channel, where the events of many completion queues come:
// [CQ.Wait] waits for them. A device has one of its own, which is enough for most
// programs: several have several goroutines read events, and not one.
type Channel struct {
	_ noCopy

	c *channel
	l *life
}

// CreateChannel makes a completion channel. Go's runtime watches its file, and a
// goroutine without a thread of its own reads the events, until Close. The error
// says so where the runtime cannot watch files of the kind. The caller closes the
// channel, after its queues.
//
// C: ibv_create_comp_channel(3)
func (d *Device) CreateChannel() (*Channel, error) {
	l, err := begin("completion channel", d)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	c, err := createChannel(d.raw, d.l.name)
	return newChannel(l, c, err, (*channel).destroy)
}

// AdoptChannel makes a handle of a completion channel of the device that something
// else has made, and that it closes, after the handle. From then on its file does
// not block, and until the handle's Close all its events are got here, of which
// those of queues without a handle on this one are acknowledged and dropped. So
// there can be one such handle of a channel at a time.
func (d *Device) AdoptChannel(raw *ibv.CompChannel) (*Channel, error) {
	l, err := beginAdopted("completion channel", raw, func(raw *ibv.CompChannel) *ibv.Context { return raw.Context }, d)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	c, err := readChannel(raw, d.l.name)
	return newChannel(l, c, err, (*channel).release)
}

// newChannel makes the handle, if there is no error.
func newChannel(l *life, c *channel, err error, destroy func(*channel) error) (*Channel, error) {
	if err != nil {
		return nil, err
	}
	ch := &Channel{c: c, l: l}
	live(l, ch, fmt.Sprint(c.raw.FD), func() error { return destroy(c) }, nil)
	return ch, nil
}

// Raw is C's object, valid until Close.
func (ch *Channel) Raw() *ibv.CompChannel { return ch.c.raw }

// Close destroys the channel: see [Object].
func (ch *Channel) Close() error { return ch.lifetime().close() }

// CloseAll closes the channel and the completion queues whose events come there:
// see [Object].
func (ch *Channel) CloseAll() error { return ch.lifetime().closeAll() }

// String is the kind, the number of the file and the device.
func (ch *Channel) String() string { return ch.lifetime().text() }

func (ch *Channel) lifetime() *life {
	if ch == nil {
		return nil
	}
	return ch.l
}
