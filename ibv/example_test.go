package ibv_test

import (
	"fmt"
	"log"

	"github.com/goverbs/goverbs/ibv"
)

// Everything from opening a device to a message received, on a queue pair that
// is connected to itself.
func Example() {
	if err := sendToMyself(); err != nil {
		log.Fatal(err)
	}
}

func sendToMyself() error {
	const port, size = 1, 4096
	ctx, err := ibv.Open("") // the first device with an active port
	if err != nil {
		return err
	}
	defer ctx.Close()
	pd, err := ctx.AllocPD()
	if err != nil {
		return err
	}
	defer pd.Close()
	buf, err := ibv.AllocBuffer(2 * size)
	if err != nil {
		return err
	}
	defer buf.Free()
	mr, err := pd.RegMR(buf, ibv.AccessLocalWrite)
	if err != nil {
		return err
	}
	defer mr.Close()
	cq, err := ctx.CreateCQ(16)
	if err != nil {
		return err
	}
	defer cq.Close()
	qp, err := pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		return err
	}
	defer qp.Close()

	// A peer elsewhere would tell its numbers over a socket, and package rdma does all
	// of this.
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return err
	}
	gid, err := ctx.BestGID(port)
	if err != nil {
		return err
	}
	state := ibv.QPSReset
	for _, move := range []ibv.QPAttr{
		{QPState: ibv.QPSInit, PortNum: port, QPAccessFlags: ibv.AccessLocalWrite},
		{
			QPState: ibv.QPSRTR, PathMTU: attr.ActiveMTU, DestQPNum: qp.QPNum, MinRNRTimer: 12,
			AHAttr: ibv.AHAttr{
				PortNum: port, DLID: attr.LID, IsGlobal: 1,
				GRH: ibv.GlobalRoute{DGID: gid.GID, SGIDIndex: uint8(gid.GIDIndex), HopLimit: 64},
			},
		},
		{QPState: ibv.QPSRTS, Timeout: 17, RetryCnt: 6, RNRRetry: 7},
	} {
		if err := qp.Modify(&move, qp.QPType.Needs(state, move.QPState)); err != nil {
			return err
		}
		state = move.QPState
	}

	recvs, err := ibv.NewRecvChain(1, 1)
	if err != nil {
		return err
	}
	if err := recvs.Set(0, 1, mr.SGE(0, size)); err != nil {
		return err
	}
	if _, err := recvs.Post(qp); err != nil {
		return err
	}
	n := copy(buf[size:], "hello")
	sends, err := ibv.NewSendChain(1, 1)
	if err != nil {
		return err
	}
	if err := sends.Set(0, 2, ibv.WRSend, ibv.SendSignaled, mr.SGE(size, n)); err != nil {
		return err
	}
	if _, err := sends.Post(qp); err != nil {
		return err
	}
	wcs := make([]ibv.WC, 2)
	for done := 0; done < 2; {
		got, err := cq.Poll(wcs)
		if err != nil {
			return err
		}
		for i := range wcs[:got] {
			if err := wcs[i].Err(); err != nil {
				return err
			}
			if wcs[i].Opcode == ibv.WCRecv {
				fmt.Printf("received %q\n", buf[:wcs[i].ByteLen])
			}
		}
		done += got
	}
	return nil
}
