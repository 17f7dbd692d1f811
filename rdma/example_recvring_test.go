package rdma_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Messages as they come, each from a buffer that is given back.
func ExampleRecvRing() {
	var qp *rdma.QP // connected; its receives complete on a completion queue of their own
	ring, err := rdma.NewRecvRing(qp, rdma.RecvRingOptions{Buffers: 64, Size: 4096})
	if err != nil {
		log.Fatal(err)
	}
	if err := receive(ring, 1000, func(message []byte) { fmt.Printf("%q\n", message) }); err != nil {
		log.Fatal(err)
	}
	// Until its queue pair is closed, the device may write to the ring's buffers.
	if err := qp.Close(); err != nil {
		log.Fatal(err)
	}
	if err := ring.Close(); err != nil {
		log.Fatal(err)
	}
}

// receive handles so many messages.
func receive(ring *rdma.RecvRing, messages int, handle func(message []byte)) error {
	in := make([]rdma.Received, 16)
	for messages > 0 {
		got, err := ring.Poll(in[:min(messages, len(in))]) // 0 says that nothing came
		for i := range in[:got] {
			if err := in[i].WC.Err(); err != nil {
				return err
			}
			handle(in[i].Data) // not to be kept beyond Release
		}
		messages -= got
		if err := errors.Join(err, ring.Release(in[:got]...)); err != nil {
			return err
		}
	}
	return nil
}

// The same with completions where C puts them.
func ExampleRecvRing_PollWC() {
	var ring *rdma.RecvRing
	wcs := make([]ibv.WC, 16)
	for {
		got, err := ring.PollWC(wcs)
		for i := range wcs[:got] {
			if err := wcs[i].Err(); err != nil {
				log.Fatal(err)
			}
			fmt.Printf("%q\n", ring.Data(&wcs[i]))
		}
		if err := errors.Join(err, ring.ReleaseWC(wcs[:got]...)); err != nil {
			log.Fatal(err)
		}
	}
}
