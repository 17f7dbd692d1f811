package main

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// end is one end of the line: the port, and what queue pairs on it need.
type end struct {
	dev  *rdma.Device
	pd   *rdma.PD
	port uint32
	gid  ibv.GIDEntry
	mtu  ibv.MTU
	lid  uint16
}

func newEnd(dev *rdma.Device) (*end, error) {
	const port = 1
	attr, err := dev.Raw().QueryPort(port)
	if err != nil {
		return nil, err
	}
	gid, err := dev.Raw().BestGID(port)
	if err != nil {
		return nil, err
	}
	pd, err := dev.AllocPD()
	if err != nil {
		return nil, err
	}
	return &end{dev: dev, pd: pd, port: port, gid: gid, mtu: attr.ActiveMTU, lid: attr.LID}, nil
}

// queuePair is an RC queue pair with its completion queue.
type queuePair struct {
	*rdma.QP
	cq *rdma.CQ
}

// newQueuePair makes a queue pair with room for n sends and n receives, in INIT.
func (e *end) newQueuePair(n int) (*queuePair, error) {
	cq, err := e.dev.CreateCQ(4*n, rdma.CQOptions{})
	if err != nil {
		return nil, err
	}
	qp, err := e.pd.CreateQP(rdma.QPOptions{
		SendCQ: cq, RecvCQ: cq, Port: e.port,
		Cap: ibv.QPCap{MaxSendWR: uint32(n), MaxRecvWR: uint32(n), MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		return nil, err
	}
	return &queuePair{QP: qp, cq: cq}, nil
}

func (q *queuePair) close() error { return q.cq.CloseAll() }

// connectToItself makes the queue pair its own peer.
func (q *queuePair) connectToItself(e *end) error {
	const psn = 1
	path := rdma.Path{Port: e.port, GIDIndex: e.gid.GIDIndex, MTU: e.mtu}
	if err := q.ToRTR(path, rdma.Peer{QPNum: q.Raw().QPNum, PSN: psn, GID: e.gid.GID, LID: e.lid}); err != nil {
		return err
	}
	return q.ToRTS(psn)
}

// poll takes n completions, hands each to use, and fails at the first bad one.
func (q *queuePair) poll(n int, wcs []ibv.WC, use func(*ibv.WC) error) error {
	for n > 0 {
		got, err := q.cq.Poll(wcs[:min(n, len(wcs))])
		if err != nil {
			return err
		}
		for i := range wcs[:got] {
			if err := use(&wcs[i]); err != nil {
				return fmt.Errorf("%d completions before the end: %w", n-i, err)
			}
		}
		n -= got
	}
	return nil
}
