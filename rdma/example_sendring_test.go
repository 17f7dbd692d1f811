package rdma_test

import (
	"errors"
	"log"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A large piece of memory is written to the peer's in blocks, with a completion
// for one block in 16.
func ExampleSendRing() {
	var qp *rdma.QP       // connected
	var from *rdma.Region // what is to be written
	var to rdma.Remote    // where to, as the peer tells
	ring, err := rdma.NewSendRing(qp, rdma.SendRingOptions{SignalEvery: 16})
	if err != nil {
		log.Fatal(err)
	}
	if err := write(ring, from, to); err != nil {
		log.Fatal(err)
	}
}

// write returns when all of it is in the peer's memory.
func write(ring *rdma.SendRing, from *rdma.Region, to rdma.Remote) error {
	const block = 1 << 16
	for at := 0; at < from.Len(); {
		length, flags := min(block, from.Len()-at), ibv.SendFlags(0)
		if at+length == from.Len() {
			flags = ibv.SendSignaled // the last one, to hear of the end
		}
		part, err := to.Slice(uint64(at), uint64(length))
		if err != nil {
			return err
		}
		_, err = ring.AddRDMA(ibv.WRRDMAWrite, flags, part, from.SGE(at, length))
		if errors.Is(err, rdma.ErrRingFull) {
			if err := advance(ring); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		at += length
	}
	for ring.Outstanding() > 0 {
		if err := advance(ring); err != nil {
			return err
		}
	}
	return nil
}

// advance posts what was added, and looks what is done.
func advance(ring *rdma.SendRing) error {
	if err := ring.Post(); err != nil {
		return err
	}
	_, err := ring.Poll()
	return err
}
