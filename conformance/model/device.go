package model

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

const (
	port = 1
	psn  = 0x123456
	// reads is how many reads and atomics may be under way. Soft-RoCE takes each try for
	// another one, and stops for ever when it has no more.
	reads = 16
)

// Device is a device to replay sequences on, open for as many as one likes. One
// goroutine at a time may use it.
type Device struct {
	ctx    *ibv.Context
	gid    ibv.GIDEntry
	memory ibv.Buffer

	// Latitude is what the device may do otherwise than the specification has it.
	Latitude Latitude
	// Patience is how long a completion may take.
	Patience time.Duration
	// Settle is how long what a post causes may go on when nothing tells that it is over:
	// datagrams and the like, which report no arrival. 0 is for a device that is through
	// with a post when that returns.
	Settle time.Duration
	// Timeout is that of RC queue pairs: see [ibv.QPAttr]. It must be several times as
	// long as a few rounds of waiting for a receive.
	Timeout uint8
}

// Open opens the device with the name, by what is known of its provider. The caller
// closes it.
func Open(name string) (*Device, error) {
	ctx, err := ibv.Open(name)
	if err != nil {
		return nil, err
	}
	d := &Device{ctx: ctx, Patience: 30 * time.Second, Settle: time.Millisecond, Timeout: 15}
	if strings.HasPrefix(filepath.Base(dl.FileOf(uintptr(ctx.Ops.PostSend))), "librxe") {
		d.Latitude = SoftRoCE
	}
	if d.gid, err = ctx.BestGID(port); err == nil {
		d.memory, err = ibv.AllocBuffer(MemorySize)
	}
	if err != nil {
		return nil, errors.Join(err, ctx.Close())
	}
	return d, nil
}

// Close closes the device.
func (d *Device) Close() error { return errors.Join(d.ctx.Close(), d.memory.Free()) }

// Replay makes the calls on the device, with objects of its own that are gone
// afterwards. The error is a [*Disagreement] where the device does not do what the
// model says, and another one if that could not be found out.
func (d *Device) Replay(s Sequence) (Outcome, error) {
	m := newSession(d)
	clear(d.memory)
	o, err := replay(m, d.Latitude, s, d.Patience)
	return o, errors.Join(err, m.close())
}

// session is the objects of one replay.
type session struct {
	*Device
	pds     map[int]*ibv.PD
	mrs     map[int]*ibv.MR
	keys    map[int][2]uint32 // lkey and rkey, of regions that are gone too
	cqs     map[int]*ibv.CQ
	srqs    map[int]*ibv.SRQ
	qps     map[int]*ibv.QP
	ahs     map[int]*ibv.AH
	mws     map[int]*ibv.MW
	rkeys   map[int]uint32 // of windows
	numbers map[uint32]int // of queue pairs
	wcs     [16]ibv.WC
}

func newSession(d *Device) *session {
	return &session{
		Device: d, pds: map[int]*ibv.PD{}, mrs: map[int]*ibv.MR{}, keys: map[int][2]uint32{}, cqs: map[int]*ibv.CQ{},
		mws: map[int]*ibv.MW{}, rkeys: map[int]uint32{}, srqs: map[int]*ibv.SRQ{}, qps: map[int]*ibv.QP{}, ahs: map[int]*ibv.AH{}, numbers: map[uint32]int{},
	}
}

// close destroys what there is, users before what they use.
func (m *session) close() error {
	return errors.Join(closeAll(m.mws), closeAll(m.qps), closeAll(m.srqs), closeAll(m.cqs), closeAll(m.ahs), closeAll(m.mrs), closeAll(m.pds))
}

func closeAll[T interface{ Close() error }](objects map[int]T) (err error) {
	for _, n := range sorted(objects) {
		err = errors.Join(err, objects[n].Close())
	}
	return err
}

func (m *session) memory() []byte { return m.Device.memory }

func (m *session) qpOf(number uint32) int { return m.numbers[number] }

func (m *session) windowOf(rkey uint32) int {
	for n, key := range m.rkeys {
		if key == rkey {
			return n
		}
	}
	return 0
}

func (m *session) poll(cq int) ([]ibv.WC, error) {
	n, err := m.cqs[cq].Poll(m.wcs[:])
	return m.wcs[:n], err
}

func (m *session) state(qp int) (ibv.QPState, error) {
	attr, _, err := m.qps[qp].Query(ibv.QPAttrMaskState)
	return attr.QPState, err
}

func (m *session) settle(c Call) {
	if c, ok := c.(PostSend); ok && m.Settle > 0 {
		last := c.WRs[len(c.WRs)-1]
		if m.qps[c.QP].QPType != ibv.QPTRC || last.Flags&ibv.SendSignaled == 0 {
			time.Sleep(m.Settle)
		}
	}
}

// do makes the call. The error is of the test, not of the call.
func (m *session) do(c Call) (*answer, error) {
	a := &answer{}
	err := m.call(c, a)
	if err == nil {
		return a, nil
	}
	if !errors.As(err, &a.errno) || a.errno == 0 {
		return nil, fmt.Errorf("model: an error without an errno: %w", err)
	}
	return a, nil
}

// created keeps an object, if it was made.
func created[T any](objects map[int]T, n int, object T, err error) error {
	if err == nil {
		objects[n] = object
	}
	return err
}

// destroyed forgets an object, if it was destroyed.
func destroyed[T interface{ Close() error }](objects map[int]T, n int) error {
	err := objects[n].Close()
	if err == nil {
		delete(objects, n)
	}
	return err
}

func (m *session) call(c Call, a *answer) error {
	switch c := c.(type) {
	case AllocPD:
		pd, err := m.ctx.AllocPD()
		return created(m.pds, c.PD, pd, err)
	case DeallocPD:
		return destroyed(m.pds, c.PD)
	case RegMR:
		mr, err := m.pds[c.PD].RegMR(m.Device.memory[c.Offset:c.Offset+c.Length], c.Access)
		if err == nil {
			m.keys[c.MR] = [2]uint32{mr.LKey, mr.RKey}
		}
		return created(m.mrs, c.MR, mr, err)
	case DeregMR:
		return destroyed(m.mrs, c.MR)
	case AllocMW:
		mw, err := m.pds[c.PD].AllocMW(ibv.MWType2)
		if err == nil {
			m.rkeys[c.MW] = mw.RKey
		}
		return created(m.mws, c.MW, mw, err)
	case DeallocMW:
		return destroyed(m.mws, c.MW)
	case CreateCQ:
		cq, err := m.ctx.CreateCQ(c.Entries)
		if err == nil {
			a.entries = int(cq.CQE)
		}
		return created(m.cqs, c.CQ, cq, err)
	case ResizeCQ:
		err := m.cqs[c.CQ].Resize(c.Entries)
		a.entries = int(m.cqs[c.CQ].CQE)
		return err
	case DestroyCQ:
		return destroyed(m.cqs, c.CQ)
	case CreateSRQ:
		attr := ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: c.MaxWR, MaxSGE: c.MaxSGE}}
		srq, err := m.pds[c.PD].CreateSRQ(&attr)
		a.srq = attr.Attr
		return created(m.srqs, c.SRQ, srq, err)
	case QuerySRQ:
		attr, err := m.srqs[c.SRQ].Query()
		a.srq = attr
		return err
	case DestroySRQ:
		return destroyed(m.srqs, c.SRQ)
	case CreateQP:
		return m.createQP(c, a)
	case ModifyQP:
		return m.modify(c)
	case QueryQP:
		attr, init, err := m.qps[c.QP].Query(ibv.QPAttrMaskState | ibv.QPAttrMaskAccessFlags | ibv.QPAttrMaskCap)
		a.state, a.access, a.cap, a.typ, a.sigAll = attr.QPState, attr.QPAccessFlags, attr.Cap, init.QPType, init.SQSigAll != 0
		return err
	case DestroyQP:
		return destroyed(m.qps, c.QP)
	case CreateAH:
		ah, err := m.pds[c.PD].CreateAHTo(port, uint32(m.gid.GIDIndex), m.gid.GID)
		return created(m.ahs, c.AH, ah, err)
	case DestroyAH:
		return destroyed(m.ahs, c.AH)
	case Fill:
		for i := range c.Length {
			m.Device.memory[c.Offset+i] = c.Value + byte(i)
		}
		return nil
	case PostRecv:
		return m.post(a, len(c.WRs), func() (int, error) {
			chain, err := m.recvChain(c.WRs)
			if err != nil {
				return 0, err
			}
			return chain.Post(m.qps[c.QP])
		})
	case PostSRQRecv:
		return m.post(a, len(c.WRs), func() (int, error) {
			chain, err := m.recvChain(c.WRs)
			if err != nil {
				return 0, err
			}
			return chain.PostSRQ(m.srqs[c.SRQ])
		})
	case PostSend:
		return m.post(a, len(c.WRs), func() (int, error) {
			before := maps.Clone(m.rkeys)
			chain, err := m.sendChain(m.qps[c.QP].QPType, c.WRs)
			if err != nil {
				return 0, err
			}
			accepted, err := chain.Post(m.qps[c.QP])
			// The keys that the binds had which were accepted.
			m.rkeys = before
			for _, wr := range c.WRs[:max(accepted, 0)] {
				if wr.Opcode == ibv.WRBindMW {
					m.rkeys[wr.Window.MW] = ibv.IncRKey(m.rkeys[wr.Window.MW])
				}
			}
			return accepted, err
		})
	}
	return fmt.Errorf("model: there is no call %T", c)
}

func (m *session) post(a *answer, n int, post func() (int, error)) (err error) {
	a.accepted, err = post()
	return err
}

func (m *session) createQP(c CreateQP, a *answer) error {
	attr := ibv.QPInitAttr{SendCQ: m.cqs[c.SendCQ], RecvCQ: m.cqs[c.RecvCQ], QPType: c.Type, Cap: c.Cap}
	if c.SRQ != 0 {
		attr.SRQ = m.srqs[c.SRQ]
	}
	if c.SigAll {
		attr.SQSigAll = 1
	}
	qp, err := m.pds[c.PD].CreateQP(&attr)
	if err != nil {
		return err
	}
	a.cap = attr.Cap
	m.numbers[qp.QPNum] = c.QP
	m.qps[c.QP] = qp
	return nil
}

func (m *session) modify(c ModifyQP) error {
	qp := m.qps[c.QP]
	from, err := m.state(c.QP)
	if err != nil {
		return err
	}
	attr := ibv.QPAttr{
		QPState: c.To, PortNum: port, QPAccessFlags: c.Access, QKey: c.QKey, PathMTU: ibv.MTU1024,
		RQPSN: psn, SQPSN: psn, MaxDestRdAtomic: reads, MaxRdAtomic: reads, MinRNRTimer: 1, Timeout: m.Timeout, RetryCnt: c.RetryCnt, RNRRetry: c.RNRRetry,
		AHAttr: ibv.AHAttr{PortNum: port, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: m.gid.GID, SGIDIndex: uint8(m.gid.GIDIndex), HopLimit: 64}},
	}
	if peer := m.qps[c.Peer]; peer != nil {
		attr.DestQPNum = peer.QPNum
	}
	return qp.Modify(&attr, c.mask(qp.QPType, from))
}

// sge is an entry as the device wants it.
func (m *session) sge(e SGE) ibv.SGE {
	return ibv.SGE{Addr: m.address(e), Length: uint32(e.Length), LKey: key(m.keys[e.MR][0], e)}
}

func (m *session) address(e SGE) uint64 { return addressOf(m.Device.memory) + uint64(e.Offset) }

// key is a region's, or another one.
func key(key uint32, e SGE) uint32 {
	if e.WrongKey {
		key ^= 0x5500
	}
	return key
}

func (m *session) sges(entries []SGE) (sges []ibv.SGE) {
	for _, e := range entries {
		sges = append(sges, m.sge(e))
	}
	return sges
}

func (m *session) recvChain(wrs []RecvWR) (*ibv.RecvChain, error) {
	most := 0
	for _, wr := range wrs {
		most = max(most, len(wr.SGEs))
	}
	chain, err := ibv.NewRecvChain(len(wrs), most)
	for i, wr := range wrs {
		if err == nil {
			err = chain.Set(i, wr.ID, m.sges(wr.SGEs)...)
		}
	}
	return chain, err
}

func (m *session) sendChain(typ ibv.QPType, wrs []SendWR) (*ibv.SendChain, error) {
	most := 0
	for _, wr := range wrs {
		most = max(most, len(wr.SGEs))
	}
	chain, err := ibv.NewSendChain(len(wrs), most)
	for i, wr := range wrs {
		if err != nil {
			break
		}
		err = chain.Set(i, wr.ID, wr.Opcode, wr.Flags, m.sges(wr.SGEs)...)
		c, op := chain.WR(i), operations[wr.Opcode]
		remote, rkey := m.address(wr.Remote), key(m.keys[wr.Remote.MR][1], wr.Remote)
		if wr.Remote.MW != 0 {
			rkey = key(m.rkeys[wr.Remote.MW], wr.Remote)
		}
		switch {
		case typ == ibv.QPTUD:
			to := c.WR.UD()
			to.AH, to.RemoteQPN, to.RemoteQKey = ibv.ToPtr(m.ahs[wr.AH]), m.qps[wr.To].QPNum, wr.QKey
		case op.atomic:
			at := c.WR.Atomic()
			at.RemoteAddr, at.RKey, at.CompareAdd, at.Swap = remote, rkey, wr.CompareAdd, wr.Swap
		case op.access != 0:
			at := c.WR.RDMA()
			at.RemoteAddr, at.RKey = remote, rkey
		}
		switch wr.Opcode {
		case ibv.WRBindMW:
			m.bind(wr.Window, c.BindMW())
		case ibv.WRLocalInv, ibv.WRSendWithInv:
			c.SetInvalidateRKey(m.rkeys[wr.Window.MW])
		}
		if op.immediate {
			c.SetImmData(ibv.ToBE32(wr.Imm))
		}
	}
	return chain, err
}

// bind is how a window is bound, by another key each time.
func (m *session) bind(window Window, to *ibv.SendWRBindMW) {
	m.rkeys[window.MW] = ibv.IncRKey(m.rkeys[window.MW])
	to.MW, to.RKey = ibv.ToPtr(m.mws[window.MW]), m.rkeys[window.MW]
	to.BindInfo = ibv.MWBindInfo{
		MR: ibv.ToPtr(m.mrs[window.MR]), Addr: m.address(SGE{Offset: window.Offset}), Length: uint64(window.Length), MWAccessFlags: window.Access,
	}
}
