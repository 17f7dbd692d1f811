package ibv_test

import (
	"log"

	"github.com/goverbs/goverbs/ibv"
)

// Completions are waited for where nothing comes for long.
func ExampleCompChannel_GetCQEvent() {
	var ctx *ibv.Context // open
	channel, err := ctx.CreateCompChannel()
	if err != nil {
		log.Fatal(err)
	}
	const number = 7 // which comes back with each event
	cq, err := ctx.CreateCQWithChannel(128, number, channel, 0)
	if err != nil {
		log.Fatal(err)
	}
	// Queue pairs are made with cq here, and work is posted.
	if err := wait(channel, cq, func(wc *ibv.WC) { log.Print(wc) }); err != nil {
		log.Fatal(err)
	}
}

// wait handles completions until there is an error.
func wait(channel *ibv.CompChannel, cq *ibv.CQ, handle func(*ibv.WC)) error {
	wcs := make([]ibv.WC, 16)
	for {
		// First the request, for what comes after it causes an event; then what is there.
		if err := cq.ReqNotify(false); err != nil {
			return err
		}
		for {
			got, err := cq.Poll(wcs)
			if err != nil {
				return err
			}
			if got == 0 {
				break
			}
			for i := range wcs[:got] {
				handle(&wcs[i])
			}
		}
		of, _, err := channel.GetCQEvent()
		if err != nil {
			return err
		}
		if err := of.AckEvents(1); err != nil {
			return err
		}
	}
}
