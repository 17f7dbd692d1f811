package rdma_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Two ends connect their queue pairs over a TCP connection, each in its own process,
// and one tells the other where it may write. Both call the same function.
func ExampleQP_Connect() {
	end := func(conn net.Conn) error {
		dev, err := rdma.Open("", rdma.DeviceOptions{}) // the first device with an active port
		if err != nil {
			return err
		}
		defer dev.CloseAll()
		pd, err := dev.AllocPD()
		if err != nil {
			return err
		}
		memory, err := pd.AllocRegion(4096, rdma.RegionOptions{Access: ibv.AccessLocalWrite | ibv.AccessRemoteWrite})
		if err != nil {
			return err
		}
		window, err := memory.Remote(0, 4096)
		if err != nil {
			return err
		}
		told, err := window.MarshalText()
		if err != nil {
			return err
		}
		cq, err := dev.CreateCQ(16, rdma.CQOptions{})
		if err != nil {
			return err
		}
		qp, err := pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Access: ibv.AccessRemoteWrite})
		if err != nil {
			return err
		}

		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		peer, err := qp.Connect(ctx, conn, rdma.ConnectOptions{Data: told})
		if err != nil {
			return err
		}
		var theirs rdma.Remote
		if err := theirs.UnmarshalText(peer.Data); err != nil {
			return err
		}
		fmt.Printf("connected to %v, which has room for %d bytes\n", peer.Peer, theirs.Length)
		return nil
	}
	conn, err := net.Dial("tcp", "server.example:7471") // the server has it from Accept
	if err != nil {
		log.Fatal(err)
	}
	defer conn.Close()
	if err := end(conn); err != nil {
		log.Fatal(err)
	}
}
