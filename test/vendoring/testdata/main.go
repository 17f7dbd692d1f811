// A user's program: it lists the devices, and sends itself a message on the first one.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func main() {
	devices, err := rdma.Devices()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("devices:", devices)
	if err := talk(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("the message came back")
}

// talk has two queue pairs of the device rxe0, of which one sends the other a message.
func talk() (err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	dev, err := rdma.Open("rxe0", rdma.DeviceOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dev.CloseAll()) }()
	pd, err := dev.AllocPD()
	if err != nil {
		return err
	}
	var ends [2]*rdma.QP
	for i := range ends {
		cq, err := dev.CreateCQ(64, rdma.CQOptions{})
		if err != nil {
			return err
		}
		sent, err := dev.CreateCQ(64, rdma.CQOptions{})
		if err != nil {
			return err
		}
		if ends[i], err = pd.CreateQP(rdma.QPOptions{RecvCQ: cq, SendCQ: sent}); err != nil {
			return err
		}
	}
	in, err := rdma.NewRecvRing(ends[1], rdma.RecvRingOptions{})
	if err != nil {
		return err
	}
	out, err := rdma.NewSendRing(ends[0], rdma.SendRingOptions{})
	if err != nil {
		return err
	}
	here, there := net.Pipe()
	connected := make(chan error, 1)
	go func() {
		_, err := ends[1].Connect(ctx, there, rdma.ConnectOptions{})
		connected <- err
	}()
	if _, err := ends[0].Connect(ctx, here, rdma.ConnectOptions{}); err != nil {
		return err
	}
	if err := <-connected; err != nil {
		return err
	}
	memory, err := pd.AllocRegion(64, rdma.RegionOptions{})
	if err != nil {
		return err
	}
	const message = "vendored"
	copy(memory.Bytes(), message)
	if _, err := out.Add(ibv.WRSend, ibv.SendSignaled, memory.SGE(0, len(message))); err != nil {
		return err
	}
	if err := out.Post(); err != nil {
		return err
	}
	var received [1]rdma.Received
	if _, err := in.Wait(ctx, received[:]); err != nil {
		return err
	}
	if err := received[0].WC.Err(); err != nil {
		return err
	}
	if string(received[0].Data) != message {
		return fmt.Errorf("%q came in place of %q", received[0].Data, message)
	}
	return nil
}
