package model

import (
	"math/rand/v2"

	"github.com/goverbs/goverbs/ibv"
)

// Generate makes a sequence of n calls at random. The seed decides all of it, with the
// latitude, for what a device cannot be asked is left out.
func Generate(seed uint64, n int, l Latitude) Sequence {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0)), w: newWorld(l)}
	for _, c := range g.beginning() {
		g.try(c)
	}
	for len(g.made) < n {
		if len(g.plan) > 0 {
			c := g.plan[0]
			g.plan = g.plan[1:]
			g.try(c)
			continue
		}
		g.try(g.pick())
	}
	return g.made
}

// generator makes calls that mean something in the world as it is: only few of all
// calls that could be written down would.
type generator struct {
	*rand.Rand
	w       *world
	made    Sequence
	plan    []Call // what comes next
	numbers int    // of objects
	ids     uint64 // of work requests
}

// try adds a call, if it is defined what it does.
func (g *generator) try(c Call) {
	if c == nil || !g.w.present(c) {
		return
	}
	if g.w.foresee(c); g.w.undefined == "" {
		g.w.imagine(c)
	}
	if g.w.undefined == "" {
		g.made = append(g.made, c)
		return
	}
	// What is undefined is not in the world's power to take back.
	g.w = newWorld(g.w.Latitude)
	for _, c := range g.made {
		g.w.imagine(c)
	}
}

// imagine does a call on a device that is as the model.
func (w *world) imagine(c Call) {
	if err := w.judge(c, w.assume(c)); err != nil {
		w.leave("the model contradicts itself: %v", err)
	}
	w.run()
	late := w.expected[:0]
	for _, e := range w.expected {
		if e.late && !e.dropped {
			late = append(late, e)
		}
	}
	w.expected = late
	w.opens = 0
	w.open = [MemorySize]bool{}
}

func (g *generator) number() int { g.numbers++; return g.numbers }

// often is true that often in a hundred times.
func (g *generator) often(percent int) bool { return g.IntN(100) < percent }

// oneOf is one of the numbers, or 0 if there is none.
func oneOf[T any](g *generator, objects map[int]T, suits func(T) bool) int {
	var numbers []int
	for _, n := range sorted(objects) {
		if suits == nil || suits(objects[n]) {
			numbers = append(numbers, n)
		}
	}
	if len(numbers) == 0 {
		return 0
	}
	return numbers[g.IntN(len(numbers))]
}

func among[T any](g *generator, values ...T) T { return values[g.IntN(len(values))] }

const (
	allAccess   = ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic | ibv.AccessMWBind
	peerAccess  = ibv.AccessRemoteWrite | ibv.AccessRemoteRead | ibv.AccessRemoteAtomic
	bufferBytes = 2048
)

// beginning is what a sequence needs to come to the point.
func (g *generator) beginning() []Call {
	pd := g.number()
	calls := []Call{
		AllocPD{pd}, RegMR{MR: g.number(), PD: pd, Length: MemorySize, Access: allAccess},
		Fill{0, MemorySize, byte(g.Uint32())}, CreateCQ{g.number(), 64}, CreateCQ{g.number(), 64},
	}
	if g.often(30) {
		calls = append(calls, CreateSRQ{g.number(), pd, 1 + g.Uint32N(8), 2})
	}
	if g.often(40) {
		calls = append(calls, AllocMW{g.number(), pd}, AllocMW{g.number(), pd})
	}
	return calls
}

// pick is any call.
func (g *generator) pick() Call {
	if len(g.w.qps) < 2 || len(g.w.qps) < 8 && g.often(4) {
		g.plan = g.pair()
		return nil
	}
	switch k := g.IntN(100); {
	case k < 32:
		return g.postSend()
	case k < 55:
		return g.postRecv()
	case k < 60:
		return g.postSRQRecv()
	case k < 65:
		return g.fill()
	case k < 74:
		return g.modify()
	case k < 79:
		return QueryQP{oneOf(g, g.w.qps, nil)}
	case k < 88:
		return g.create()
	case k < 92:
		return g.destroy()
	default:
		g.plan = g.again()
		return nil
	}
}

func (g *generator) fill() Call {
	offset := g.IntN(MemorySize)
	return Fill{offset, g.IntN(min(512, MemorySize-offset)), byte(g.Uint32())}
}

// create makes an object; now and then one that is not to be had.
func (g *generator) create() Call {
	pd := oneOf(g, g.w.pds, nil)
	switch g.IntN(14) {
	case 0:
		return AllocPD{g.number()}
	case 1, 2:
		return CreateCQ{g.number(), among(g, 1, 4, 64, 100, 0, -1, most)}
	case 3:
		return ResizeCQ{oneOf(g, g.w.cqs, nil), among(g, 16, 64, 100, 0, most)}
	case 4:
		return CreateSRQ{g.number(), pd, among[uint32](g, 1, 4, 7, most), among[uint32](g, 1, 2, 4)}
	case 5:
		return QuerySRQ{oneOf(g, g.w.srqs, nil)}
	case 6, 7:
		return CreateAH{g.number(), pd}
	case 8:
		c := g.queuePair(pd, among(g, ibv.QPTRC, ibv.QPTUC, ibv.QPTUD))
		if g.often(50) {
			*among(g, &c.Cap.MaxSendWR, &c.Cap.MaxSendSGE, &c.Cap.MaxRecvWR, &c.Cap.MaxRecvSGE) = most
		}
		return c
	case 9, 10:
		return AllocMW{g.number(), pd}
	default:
		offset := g.IntN(MemorySize)
		access := among(g, 0, ibv.AccessLocalWrite, allAccess, allAccess, allAccess&^ibv.AccessRemoteAtomic,
			ibv.AccessRemoteRead, ibv.AccessRemoteWrite, ibv.AccessRemoteAtomic|ibv.AccessRemoteRead)
		return RegMR{g.number(), pd, offset, g.IntN(MemorySize - offset), access}
	}
}

// destroy destroys an object, or tries what has objects that depend on it.
func (g *generator) destroy() Call {
	switch g.IntN(9) {
	case 8:
		return DeallocMW{oneOf(g, g.w.mws, func(mw *window) bool { return !mw.gone })}
	case 0:
		return DeallocPD{oneOf(g, g.w.pds, nil)}
	case 1:
		return DestroyCQ{oneOf(g, g.w.cqs, nil)}
	case 2:
		return DestroySRQ{oneOf(g, g.w.srqs, nil)}
	case 3:
		return DestroyAH{oneOf(g, g.w.ahs, nil)}
	case 4, 5:
		return DestroyQP{oneOf(g, g.w.qps, nil)}
	default:
		return DeregMR{oneOf(g, g.w.mrs, func(mr *region) bool { return !mr.gone })}
	}
}

func (g *generator) queuePair(pd int, typ ibv.QPType) CreateQP {
	c := CreateQP{
		QP: g.number(), PD: pd, SendCQ: oneOf(g, g.w.cqs, nil), RecvCQ: oneOf(g, g.w.cqs, nil), Type: typ, SigAll: g.often(20),
		Cap: ibv.QPCap{MaxSendWR: 1 + g.Uint32N(8), MaxRecvWR: 1 + g.Uint32N(8), MaxSendSGE: 1 + g.Uint32N(3), MaxRecvSGE: 1 + g.Uint32N(3),
			MaxInlineData: among[uint32](g, 0, 16, 64)},
	}
	if g.often(20) {
		if srq := oneOf(g, g.w.srqs, func(srq *sharedQueue) bool { return srq.pd == pd }); srq != 0 {
			c.SRQ = srq
		}
	}
	return c
}

// pair makes two queue pairs that can talk, and receives for them.
func (g *generator) pair() []Call {
	pd := oneOf(g, g.w.pds, nil)
	typ := among(g, ibv.QPTRC, ibv.QPTRC, ibv.QPTRC, ibv.QPTUC, ibv.QPTUD)
	a, b := g.queuePair(pd, typ), g.queuePair(pd, typ)
	calls := []Call{a, b}
	if typ == ibv.QPTUD {
		calls = append(calls, CreateAH{g.number(), pd})
	}
	return append(calls, g.connect(a.QP, b.QP)...)
}

// connect is the calls that bring two queue pairs to RTS, or not quite.
func (g *generator) connect(a, b int) (calls []Call) {
	access := func() ibv.AccessFlags {
		if g.often(75) {
			return peerAccess
		}
		return peerAccess & ibv.AccessFlags(g.Uint32())
	}
	rnr, retry := uint8(g.IntN(3)), uint8(g.IntN(4))
	if g.often(50) {
		rnr, retry = 7, 7
	}
	for _, to := range []ibv.QPState{ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS} {
		for _, ends := range [][2]int{{a, b}, {b, a}} {
			c := ModifyQP{QP: ends[0], To: to}
			switch to {
			case ibv.QPSInit:
				c.Access, c.QKey = access(), 0x1111
			case ibv.QPSRTR:
				c.Peer = ends[1]
			case ibv.QPSRTS:
				c.RNRRetry, c.RetryCnt = rnr, retry
			}
			if !g.often(3) {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// again resets a pair, and connects it once more.
func (g *generator) again() []Call {
	a := oneOf(g, g.w.qps, func(qp *queuePair) bool { return qp.state > ibv.QPSRTS || g.often(10) })
	if a == 0 {
		return nil
	}
	b := g.w.qps[a].peer
	if g.w.qps[b] == nil || g.w.qps[b].Type != g.w.qps[a].Type {
		if b = oneOf(g, g.w.qps, func(qp *queuePair) bool { return qp.Type == g.w.qps[a].Type && qp.QP != a }); b == 0 {
			return nil
		}
	}
	return append([]Call{ModifyQP{QP: a, To: ibv.QPSReset}, ModifyQP{QP: b, To: ibv.QPSReset}}, g.connect(a, b)...)
}

// modify moves a queue pair anywhere.
func (g *generator) modify() Call {
	n := oneOf(g, g.w.qps, nil)
	qp := g.w.qps[n]
	c := ModifyQP{
		QP: n, To: among(g, ibv.QPSErr, ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS, qp.state+1), QKey: 0x1111, Access: peerAccess,
		Peer: oneOf(g, g.w.qps, func(o *queuePair) bool { return o.QP != n && o.Type == qp.Type }), RetryCnt: 1, RNRRetry: 1,
	}
	if c.To > ibv.QPSRTS || g.often(20) {
		c.To = ibv.QPSErr
	}
	if g.often(30) {
		c.Without = 1 << (1 + g.IntN(20))
	}
	if g.often(20) {
		c.With = among(g, ibv.QPAttrMaskQKey, ibv.QPAttrMaskAccessFlags, ibv.QPAttrMaskSQPSN, ibv.QPAttrMaskRQPSN, ibv.QPAttrMaskPKeyIndex,
			ibv.QPAttrMaskMinRNRTimer, ibv.QPAttrMaskMaxQPRdAtomic, ibv.QPAttrMaskPort)
	}
	return c
}
