package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const (
	depth   = 16 // messages that may be under way, each way
	longest = 64 // bytes of a message
)

// end is one end of a connection. Its protection domain is its own, so that other peers cannot reach its memory.
type end struct {
	pd   *rdma.PD
	qp   *rdma.QP
	in   *rdma.RecvRing
	out  *rdma.SendRing
	fail context.CancelCauseFunc // ends the connection
}

func newEnd(dev *rdma.Device, cq *rdma.CQ) (e *end, err error) {
	e = &end{}
	if e.pd, err = dev.AllocPD(); err != nil {
		return nil, err
	}
	e.qp, err = e.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{
		MaxSendWR: depth, MaxRecvWR: depth, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: longest,
	}})
	if err == nil {
		e.in, err = rdma.NewRecvRing(e.qp, rdma.RecvRingOptions{Size: longest})
	}
	if err == nil {
		e.out, err = rdma.NewSendRing(e.qp, rdma.SendRingOptions{})
	}
	if err != nil {
		return nil, errors.Join(err, e.pd.CloseAll())
	}
	return e, nil
}

// send sends a message.
func (e *end) send(message []byte) error {
	if _, err := e.out.AddInline(ibv.WRSend, 0, message); err != nil {
		return err
	}
	return e.out.Post()
}

// message is what has come with a completion, or nil if that was of a send.
func (e *end) message(wc *ibv.WC) ([]byte, error) {
	if err := wc.Err(); err != nil {
		return nil, err
	}
	m, own := e.in.Handle(wc)
	if !own {
		e.out.Handle(wc)
		return nil, nil
	}
	data := slices.Clone(m.Data)
	return data, errors.Join(e.in.Release(m), e.in.Flush()) // the buffer is posted again
}

// say is a client: it says words to a server, and prints the answers.
func say(ctx context.Context, address string, words []string) {
	conn := must(net.Dial("tcp", address))
	dev := must(rdma.Open("", rdma.DeviceOptions{}))
	cq := must(dev.CreateCQ(4*depth, rdma.CQOptions{}))
	e := must(newEnd(dev, cq))
	must(e.qp.Connect(ctx, conn, rdma.ConnectOptions{Watch: true}))
	var wcs [1]ibv.WC
	for _, word := range words {
		check(e.send([]byte(word)))
		for answer := []byte(nil); answer == nil; {
			must(cq.Wait(ctx, wcs[:])) // if the server ends, a completion that was flushed says so
			answer = must(e.message(&wcs[0]))
			if answer != nil {
				fmt.Println(string(answer))
			}
		}
	}
	check(dev.CloseAll())
}
