package rdma

import "sync"

// ownChannel is the channel of queues that are made without one. It is made when it
// is needed, and a part of the device: no program sees it.
type ownChannel struct {
	mu sync.Mutex
	c  *channel
}

// get is the channel.
func (o *ownChannel) get(d *Device) (*channel, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.c == nil {
		c, err := createChannel(d.raw, d.l.name)
		if err != nil {
			return nil, err
		}
		o.c = c
	}
	return o.c, nil
}

// close destroys the channel, whose queues are closed, and then the device.
func (o *ownChannel) close(device func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.c != nil {
		if err := o.c.destroy(); err != nil {
			return err
		}
		o.c = nil
	}
	return device()
}
