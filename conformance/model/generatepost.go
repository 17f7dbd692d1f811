package model

import "github.com/goverbs/goverbs/ibv"

// entry is n bytes of a region that allows so much; now and then a mistake.
func (g *generator) entry(pd, n int, access ibv.AccessFlags) (e SGE, ok bool) {
	suits := func(mr *region) bool {
		return !mr.gone && mr.PD == pd && mr.Access&access == access && mr.Length >= n
	}
	number := oneOf(g, g.w.mrs, suits)
	mistake := g.often(4)
	if mistake && g.often(50) || number == 0 {
		number = oneOf(g, g.w.mrs, nil) // It may be gone, another domain's, or allow less.
	}
	if number == 0 {
		return SGE{}, false
	}
	mr := g.w.mrs[number]
	e = SGE{MR: number, Offset: mr.Offset + g.IntN(max(mr.Length-n, 0)+1), Length: n}
	if mistake {
		switch g.IntN(3) {
		case 0:
			e.WrongKey = true
		case 1:
			e.Offset = mr.Offset + mr.Length - n/2
		}
	}
	return e, true
}

// entries is up to most entries of n bytes together.
func (g *generator) entries(pd, n, most int, access ibv.AccessFlags) (es []SGE) {
	if g.often(2) {
		most++
	}
	for n > 0 && len(es) < most {
		length := n
		if len(es) < most-1 && g.often(40) {
			length = 1 + g.IntN(n)
		}
		e, ok := g.entry(pd, length, access)
		if !ok {
			break
		}
		es, n = append(es, e), n-length
	}
	return es
}

// chainLength is how many work requests to post to a queue that takes so many.
func (g *generator) chainLength(room int) int {
	if g.often(10) {
		return room + g.IntN(4)
	}
	return 1 + g.IntN(3)
}

func (g *generator) recvs(pd int, q *receives, typ ibv.QPType) (wrs []RecvWR) {
	for range max(g.chainLength(q.maxWR-len(q.waiting)), 1) {
		length := among(g, 0, 8, 64, 200, onePacket, 1000, bufferBytes)
		if typ == ibv.QPTUD {
			length = ibv.GRHLength + among(g, 8, 64, 200, mtu)
		}
		g.ids++
		wrs = append(wrs, RecvWR{g.ids, g.entries(pd, length, min(q.maxSGE, 3), ibv.AccessLocalWrite)})
	}
	return wrs
}

func (g *generator) postRecv() Call {
	n := oneOf(g, g.w.qps, func(qp *queuePair) bool { return qp.SRQ == 0 || g.often(5) })
	if n == 0 {
		return nil
	}
	qp := g.w.qps[n]
	return PostRecv{n, g.recvs(qp.PD, &qp.receives, qp.Type)}
}

func (g *generator) postSRQRecv() Call {
	n := oneOf(g, g.w.srqs, nil)
	if n == 0 {
		return nil
	}
	srq := g.w.srqs[n]
	return PostSRQRecv{n, g.recvs(srq.pd, &srq.receives, among(g, ibv.QPTRC, ibv.QPTUD))}
}

func (g *generator) postSend() Call {
	n := oneOf(g, g.w.qps, func(qp *queuePair) bool { return qp.state == ibv.QPSRTS || g.often(10) })
	if n == 0 {
		return nil
	}
	qp := g.w.qps[n]
	c := PostSend{QP: n}
	for range max(g.chainLength(int(qp.Cap.MaxSendWR)-len(qp.occupied)), 1) {
		wr, ok := g.rebind(qp)
		if !ok {
			wr, ok = g.send(qp)
		}
		if ok {
			c.WRs = append(c.WRs, wr)
		}
	}
	if len(c.WRs) == 0 {
		return nil
	}
	return c
}

// send is a work request that has some chance of meeting a receive that it fits.
func (g *generator) send(qp *queuePair) (SendWR, bool) {
	g.ids++
	wr := SendWR{ID: g.ids, Opcode: g.opcode(qp.Type)}
	op := operations[wr.Opcode]
	for _, flag := range []struct {
		ibv.SendFlags
		percent int
	}{{ibv.SendSignaled, 80}, {ibv.SendSolicited, 10}, {ibv.SendFence, 5}} {
		if g.often(flag.percent) {
			wr.Flags |= flag.SendFlags
		}
	}
	if op.immediate {
		wr.Imm = g.Uint32()
	}
	peer := g.w.qps[qp.peer]
	if qp.Type == ibv.QPTUD {
		wr.AH, wr.QKey = oneOf(g, g.w.ahs, func(pd int) bool { return pd == qp.PD }), 0x1111
		wr.To = oneOf(g, g.w.qps, func(o *queuePair) bool { return o.Type == ibv.QPTUD || g.often(5) })
		if g.often(5) {
			wr.QKey++
		}
		peer = g.w.qps[wr.To]
		if wr.AH == 0 || peer == nil {
			return wr, false
		}
	}
	length := g.length(qp, op, peer)
	if !op.fetches && length <= int(qp.Cap.MaxInlineData)+g.IntN(2) && g.often(30) {
		wr.Flags |= ibv.SendInline
	}
	most := int(qp.Cap.MaxSendSGE)
	if op.atomic {
		most = 1
	}
	wr.SGEs = g.entries(qp.PD, length, min(most, 3), op.localAccess())
	if op.access == 0 {
		return wr, true
	}
	pd := qp.PD
	if peer != nil {
		pd = peer.PD
	}
	var ok bool
	if wr.Remote, ok = g.entry(pd, length, op.access); !ok {
		return wr, false
	}
	if g.often(30) {
		g.byWindow(&wr, peer, length)
	}
	if wr.Remote.Length = 0; op.atomic {
		wr.CompareAdd, wr.Swap = uint64(g.IntN(3)), g.Uint64()
		if !g.often(5) {
			wr.Remote.Offset &^= 7
		}
	}
	return wr, true
}

// rebind is a work request that binds or invalidates a window, if there is one.
func (g *generator) rebind(qp *queuePair) (wr SendWR, ok bool) {
	if qp.Type != ibv.QPTRC || !g.often(25) {
		return wr, false
	}
	g.ids++
	wr = SendWR{ID: g.ids, Opcode: ibv.WRBindMW}
	if g.often(80) {
		wr.Flags = ibv.SendSignaled
	}
	peer := g.w.qps[qp.peer]
	if mw := oneOf(g, g.w.mws, func(mw *window) bool { return mw.bound && !mw.gone && mw.qp == qp.QP }); mw != 0 && g.often(30) {
		wr.Opcode, wr.Window.MW = ibv.WRLocalInv, mw
		return wr, true
	}
	if mw := oneOf(g, g.w.mws, func(mw *window) bool { return mw.bound && !mw.gone && peer != nil && mw.qp == peer.QP }); mw != 0 && g.often(50) {
		wr.Opcode, wr.Window.MW = ibv.WRSendWithInv, mw
		return wr, true
	}
	wr.Window.MW = oneOf(g, g.w.mws, func(mw *window) bool { return !mw.gone && (!mw.bound || g.often(10)) })
	wr.Window.MR = oneOf(g, g.w.mrs, func(mr *region) bool {
		return !mr.gone && mr.Length > 0 && (mr.Access&ibv.AccessMWBind != 0 || g.often(5))
	})
	if wr.Window.MW == 0 || wr.Window.MR == 0 {
		return wr, false
	}
	mr := g.w.mrs[wr.Window.MR]
	offset := g.IntN(mr.Length)
	wr.Window.Offset, wr.Window.Length = mr.Offset+offset, 1+g.IntN(mr.Length-offset)
	wr.Window.Access = among(g, peerAccess, peerAccess, ibv.AccessRemoteRead, ibv.AccessRemoteWrite)
	if g.often(3) {
		wr.Window.Length += MemorySize
	}
	return wr, true
}

// byWindow has a send reach its target by a window.
func (g *generator) byWindow(wr *SendWR, peer *queuePair, length int) {
	n := oneOf(g, g.w.mws, func(mw *window) bool { return peer != nil && mw.bound && mw.qp == peer.QP || g.often(3) })
	if n == 0 {
		return
	}
	mw := g.w.mws[n]
	wr.Remote = SGE{MW: n, Offset: mw.Offset + g.IntN(max(mw.Length-length, 0)+1), WrongKey: g.often(3)}
}

func (g *generator) opcode(typ ibv.QPType) ibv.WROpcode {
	switch {
	case typ == ibv.QPTUD:
		return among(g, ibv.WRSend, ibv.WRSend, ibv.WRSendWithImm)
	case typ == ibv.QPTUC && !g.often(4):
		return among(g, ibv.WRSend, ibv.WRSend, ibv.WRSendWithImm, ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm)
	}
	return among(g, ibv.WRSend, ibv.WRSend, ibv.WRSendWithImm, ibv.WRRDMAWrite, ibv.WRRDMAWrite, ibv.WRRDMAWriteWithImm, ibv.WRRDMARead,
		ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd)
}

// length is how many bytes to send, which mostly fit the peer's next receive.
func (g *generator) length(qp *queuePair, op operation, peer *queuePair) int {
	if op.atomic {
		return 8
	}
	length := among(g, 0, 1, 8, 64, 200, onePacket, 1000, bufferBytes)
	if peer == nil || op.access != 0 || g.often(5) {
		return length
	}
	q := g.w.queueOf(peer)
	if len(q.waiting) == 0 {
		return length
	}
	room := 0
	for _, e := range q.waiting[g.IntN(len(q.waiting))].SGEs {
		room += e.Length
	}
	if qp.Type == ibv.QPTUD {
		room -= ibv.GRHLength
	}
	return min(length, max(room, 0))
}
