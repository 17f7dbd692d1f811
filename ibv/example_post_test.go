package ibv_test

import (
	"errors"
	"log"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// A chain that is longer than its queue: each post goes on where the one before
// was cut short.
func ExampleRecvChain() {
	var (
		qp *ibv.QP // in INIT or later
		cq *ibv.CQ // of its receives
		mr *ibv.MR // of 256 buffers of 4096 bytes
	)
	chain, err := mr.RecvChain(256, 4096) // linked once
	if err != nil {
		log.Fatal(err)
	}
	wcs := make([]ibv.WC, 16)
	for next := 0; next < chain.Len(); {
		accepted, err := chain.PostRange(qp, next, chain.Len())
		if accepted < 0 || err != nil && !errors.Is(err, syscall.ENOMEM) {
			log.Fatal(err)
		}
		next += accepted
		// The queue is full, or the chain is posted. Each completion makes room for one.
		if _, err := cq.Poll(wcs); err != nil {
			log.Fatal(err)
		}
	}
}

// C's own shape: a list of structs, and the one that was refused.
func ExampleQP_PostRecv() {
	var (
		qp *ibv.QP // in INIT or later
		mr *ibv.MR // of 8192 bytes
	)
	sges := []ibv.SGE{mr.SGE(0, 4096), mr.SGE(4096, 4096)}
	wrs := []ibv.RecvWR{
		{WRID: 1, SGList: &sges[0], NumSGE: 1},
		{WRID: 2, SGList: &sges[1], NumSGE: 1},
	}
	wrs[0].Next = &wrs[1]
	bad, err := qp.PostRecv(&wrs[0])
	switch {
	case bad != nil:
		log.Fatalf("work request %d: %v", bad.WRID, err)
	case err != nil:
		log.Fatal(err)
	}
}
