// Command ping sends messages to another process over RDMA, and gets them back. The two meet over TCP: one listens, the
// other one dials.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"os"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: ping listen ADDRESS, or ping dial ADDRESS")
	}
	asks, conn := os.Args[1] == "dial", meet(os.Args[1], os.Args[2])
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	dev := must(rdma.Open("", rdma.DeviceOptions{})) // the first one that can be used
	pd := must(dev.AllocPD())
	received, sent := must(dev.CreateCQ(64, rdma.CQOptions{})), must(dev.CreateCQ(64, rdma.CQOptions{}))
	qp := must(pd.CreateQP(rdma.QPOptions{RecvCQ: received, SendCQ: sent}))
	in := must(rdma.NewRecvRing(qp, rdma.RecvRingOptions{})) // receives are posted before there is a peer
	out := must(rdma.NewSendRing(qp, rdma.SendRingOptions{}))
	memory := must(pd.AllocRegion(64, rdma.RegionOptions{}))
	peer := must(qp.Connect(ctx, conn, rdma.ConnectOptions{Watch: true})) // who waits hears of it when the peer ends

	send := func() {
		must(out.Add(ibv.WRSend, ibv.SendSignaled, memory.SGE(0, memory.Len())))
		check(out.Post())
		must(out.Wait(ctx)) // parks the goroutine, until the peer has the message
	}
	receive := func() {
		var message [1]rdma.Received
		must(in.Wait(ctx, message[:]))
		check(message[0].WC.Err())
		copy(memory.Bytes(), message[0].Data)
		check(in.Release(message[0])) // its buffer is posted again
	}
	const rounds = 1000
	start := time.Now()
	for range rounds {
		if asks {
			send()
		}
		receive()
		if !asks {
			send()
		}
	}
	if asks {
		fmt.Printf("%d round trips of %d bytes, %v each\n", rounds, memory.Len(), time.Since(start)/rounds)
		<-peer.Ended // its last send had to be acknowledged
	}
	check(dev.CloseAll()) // and all that was made from it
}

// meet is a TCP connection with the other process.
func meet(how, address string) net.Conn {
	if how == "dial" {
		return must(net.Dial("tcp", address))
	}
	l := must(net.Listen("tcp", address))
	fmt.Println("listening on", l.Addr())
	return must(l.Accept())
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
