//go:build !freebsd

package ibv_test

import (
	"log"

	"github.com/goverbs/goverbs/ibv"
)

// Blocks are written to the peer's memory, and then it is told so, all in one
// batch; the next ones need no more than another place. The completion of the last
// work request tells that all of them are done.
func ExampleBatch() {
	// What the queue pair was created with, by Context.CreateQPEx.
	const ops = ibv.QPExWithRDMAWrite | ibv.QPExWithSendWithImm
	const blocks, size = 16, 4096
	var (
		qp   *ibv.QP   // connected
		cq   *ibv.CQEx // of its sends, created without any WCExWith
		from *ibv.MR   // blocks of them
		to   struct {
			Addr uint64
			RKey uint32
		} // as the peer tells
		times = 100
	)
	extended, err := qp.Ex()
	if err != nil {
		log.Fatal(err)
	}
	batch, err := ibv.NewBatch(extended, ops, blocks+1, 0)
	if err != nil {
		log.Fatal(err)
	}
	for i := range blocks {
		if err := batch.RDMAWrite(i, uint64(i), 0, to.Addr, to.RKey); err != nil {
			log.Fatal(err)
		}
		if err := batch.SetSGE(i, from.SGE(i*size, size)); err != nil {
			log.Fatal(err)
		}
	}
	if err := batch.SendImm(blocks, blocks, ibv.SendSignaled, 0); err != nil {
		log.Fatal(err)
	}
	if err := batch.SetInline(blocks, nil); err != nil {
		log.Fatal(err)
	}
	poll, err := ibv.NewExtendedPoll(cq, ibv.WCFieldOpcode)
	if err != nil {
		log.Fatal(err)
	}
	wcs := make([]ibv.ExtendedWC, 1)
	for round := range times {
		for i := range blocks {
			_ = batch.SetRemote(i, to.Addr+uint64(round*blocks+i)*size, to.RKey) // Post has its error, too
		}
		_ = batch.SetImm(blocks, ibv.ToBE32(uint32(round)))
		if _, err := batch.Post(); err != nil { // all of it was posted, or nothing
			log.Fatal(err)
		}
		for n := 0; n == 0; {
			if n, err = poll.Poll(wcs); err != nil {
				log.Fatal(err)
			}
		}
		if err := wcs[0].Err(); err != nil {
			log.Fatal(err)
		}
	}
}
