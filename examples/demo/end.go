package main

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// end is one end of the line: the port, and what queue pairs on it need.
type end struct {
	ctx  *ibv.Context
	pd   *ibv.PD
	port uint32
	gid  ibv.GIDEntry
	mtu  ibv.MTU
	lid  uint16
}

func newEnd(ctx *ibv.Context) (*end, error) {
	const port = 1
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return nil, err
	}
	gid, err := ctx.BestGID(port)
	if err != nil {
		return nil, err
	}
	pd, err := ctx.AllocPD()
	if err != nil {
		return nil, err
	}
	return &end{ctx: ctx, pd: pd, port: port, gid: gid, mtu: attr.ActiveMTU, lid: attr.LID}, nil
}

func (e *end) close() { e.pd.Close() }

// queuePair is an RC queue pair with its completion queue.
type queuePair struct {
	*ibv.QP
	cq *ibv.CQ
}

// newQueuePair makes a queue pair with room for n sends and n receives, in INIT.
func (e *end) newQueuePair(n int) (*queuePair, error) {
	cq, err := e.ctx.CreateCQ(4 * n)
	if err != nil {
		return nil, err
	}
	qp, err := e.pd.CreateQP(&ibv.QPInitAttr{
		SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC,
		Cap: ibv.QPCap{MaxSendWR: uint32(n), MaxRecvWR: uint32(n), MaxSendSGE: 1, MaxRecvSGE: 1},
	})
	if err != nil {
		cq.Close()
		return nil, err
	}
	q := &queuePair{QP: qp, cq: cq}
	if err := q.ToInit(e.port, ibv.AccessLocalWrite); err != nil {
		q.close()
		return nil, err
	}
	return q, nil
}

func (q *queuePair) close() {
	q.QP.Close()
	q.cq.Close()
}

// connectToItself makes the queue pair its own peer.
func (q *queuePair) connectToItself(e *end) error {
	const psn = 1
	path := ibv.Path{Port: e.port, GIDIndex: e.gid.GIDIndex, MTU: e.mtu}
	if err := q.ToRTR(path, ibv.Peer{QPNum: q.QPNum, PSN: psn, GID: e.gid.GID, LID: e.lid}); err != nil {
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
