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
	var qp *rdma.QP       // connected, made without SignalAll
	var from *ibv.MR      // what is to be written
	var remoteAddr uint64 // where to, as the peer tells
	var rkey uint32
	ring, err := rdma.NewSendRing(qp, rdma.SendRingOptions{Requests: 128, SignalEvery: 16})
	if err != nil {
		log.Fatal(err)
	}
	if err := write(ring, from, remoteAddr, rkey); err != nil {
		log.Fatal(err)
	}
}

// write returns when all of it is in the peer's memory.
func write(ring *rdma.SendRing, from *ibv.MR, remoteAddr uint64, rkey uint32) error {
	const block = 1 << 16
	for at := 0; at < int(from.Length); {
		length, flags := min(block, int(from.Length)-at), ibv.SendFlags(0)
		if at+length == int(from.Length) {
			flags = ibv.SendSignaled // the last one, to hear of the end
		}
		wr, err := ring.Add(ibv.WRRDMAWrite, flags, from.SGE(at, length))
		if errors.Is(err, rdma.ErrRingFull) {
			if err := advance(ring); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		*wr.WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: remoteAddr + uint64(at), RKey: rkey}
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
