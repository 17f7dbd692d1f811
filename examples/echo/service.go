// Package echo is a service over RDMA that sends back what a client says, with tests that need no hardware.
package echo

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const longest = 4096 // bytes of a message

// Serve answers the client at the other end of conn until that ends, which is no error, or ctx does.
func Serve(ctx context.Context, dev *rdma.Device, conn net.Conn) (err error) {
	c, err := Connect(ctx, dev, conn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for {
		message, err := c.Receive(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = c.Send(ctx, message)
		}
		if err != nil {
			return err
		}
	}
}

// Conn is a connection with a peer. It is for one goroutine at a time.
type Conn struct {
	made   []rdma.Object
	in     *rdma.RecvRing
	out    *rdma.SendRing
	memory *rdma.Region // of what is sent
}

// Connect connects with the peer that calls it with the other end of conn, which is the connection's from then on.
func Connect(ctx context.Context, dev *rdma.Device, conn net.Conn) (*Conn, error) {
	c := &Conn{}
	if err := c.connect(ctx, dev, conn); err != nil {
		return nil, errors.Join(err, conn.Close(), c.Close())
	}
	return c, nil
}

func (c *Conn) connect(ctx context.Context, dev *rdma.Device, conn net.Conn) error {
	received, err := made(c, func() (*rdma.CQ, error) { return dev.CreateCQ(64, rdma.CQOptions{}) })
	if err != nil {
		return err
	}
	sent, err := made(c, func() (*rdma.CQ, error) { return dev.CreateCQ(64, rdma.CQOptions{}) })
	if err != nil {
		return err
	}
	pd, err := made(c, dev.AllocPD)
	if err != nil {
		return err
	}
	qp, err := pd.CreateQP(rdma.QPOptions{RecvCQ: received, SendCQ: sent})
	if err != nil {
		return err
	}
	if c.in, err = rdma.NewRecvRing(qp, rdma.RecvRingOptions{Size: longest}); err != nil {
		return err
	}
	if c.out, err = rdma.NewSendRing(qp, rdma.SendRingOptions{}); err != nil {
		return err
	}
	if c.memory, err = pd.AllocRegion(longest, rdma.RegionOptions{}); err != nil {
		return err
	}
	_, err = qp.Connect(ctx, conn, rdma.ConnectOptions{Watch: true}) // whoever waits hears of it when the peer ends
	return err
}

// made has an object be closed with the connection, and all that is made from it.
func made[T rdma.Object](c *Conn, create func() (T, error)) (T, error) {
	object, err := create()
	if err == nil {
		c.made = append(c.made, object)
	}
	return object, err
}

// Close ends the connection. The peer receives what was sent, and then [io.EOF].
func (c *Conn) Close() (err error) {
	for _, object := range slices.Backward(c.made) {
		err = errors.Join(err, object.CloseAll())
	}
	return err
}

// Send sends a message, and returns when the peer has it.
func (c *Conn) Send(ctx context.Context, message []byte) error {
	n := copy(c.memory.Bytes(), message)
	if n < len(message) {
		return errors.New("the message is too long")
	}
	if _, err := c.out.Add(ibv.WRSend, ibv.SendSignaled, c.memory.SGE(0, n)); err != nil {
		return err
	}
	if err := c.out.Post(); err != nil {
		return err
	}
	_, err := c.out.Wait(ctx)
	return err
}

// Receive waits for a message. It gives [io.EOF] when the connection has ended.
func (c *Conn) Receive(ctx context.Context) ([]byte, error) {
	var m [1]rdma.Received
	if _, err := c.in.Wait(ctx, m[:]); err != nil {
		return nil, err
	}
	if m[0].WC.Status == ibv.WCWRFlushErr { // the queue pair has ended, and what was posted with it
		return nil, io.EOF
	}
	if err := m[0].WC.Err(); err != nil {
		return nil, err
	}
	message := slices.Clone(m[0].Data)
	return message, c.in.Release(m[0]) // its buffer is posted again
}
