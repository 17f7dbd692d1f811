package mistakes

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Innocent is something that looks like a mistake and is none.
type Innocent struct {
	Name string
	Do   func(r *Rig) error
}

// Innocents is what checked mode must not accuse.
func Innocents() []Innocent { return innocents }

var innocents = []Innocent{
	{"two sends of one buffer", func(r *Rig) error {
		sge := r.region(64).SGE(0, 64)
		_, err := r.rts().PostSend(r.sends(ibv.WRSend, 0, sge, sge))
		return err
	}},
	{"receives beside each other", func(r *Rig) error {
		region := r.region(64)
		_, err := r.rts().PostRecv(r.recvs(list(region.SGE(0, 32)), list(region.SGE(32, 32))))
		return err
	}},
	{"send of what is being read, with a fence", func(r *Rig) error {
		sge := r.region(64).SGE(0, 64)
		c := r.sends(ibv.WRRDMARead, 0, sge, sge, sge)
		c.WR(1).Opcode, c.WR(1).SendFlags = ibv.WRSend, ibv.SendFence
		c.WR(2).Opcode = ibv.WRSend
		_, err := r.rts().PostSend(c)
		return err
	}},
	{"read behind a send of the same buffer, and behind a read", func(r *Rig) error {
		sge := r.region(64).SGE(0, 64)
		c := r.sends(ibv.WRRDMARead, 0, sge, sge, sge)
		c.WR(0).Opcode = ibv.WRSend
		_, err := r.rts().PostSend(c)
		return err
	}},
	{"headers of all receives in one buffer", func(r *Rig) error {
		qp := r.qp(ibv.QPSRTS, rdma.QPOptions{Type: ibv.QPTUD, Cap: ibv.QPCap{MaxSendWR: 2, MaxRecvWR: 2, MaxSendSGE: 1, MaxRecvSGE: 2}})
		region, header := r.region(128), r.region(ibv.GRHLength).SGE(0, ibv.GRHLength)
		_, err := qp.PostRecv(r.recvs(list(header, region.SGE(0, 64)), list(header, region.SGE(64, 64))))
		return err
	}},
	{"results of atomics on two queue pairs in one buffer", func(r *Rig) error {
		a, b, c := r.rts(), r.rts(), r.sends(ibv.WRAtomicFetchAndAdd, ibv.SendSignaled, r.region(8).SGE(0, 8))
		r.posted(a.PostSend(c))
		_, err := b.PostSend(c)
		return err
	}},
	{"buffer that was sent inline", func(r *Rig) error {
		qp, region := r.rts(), r.region(64)
		c := r.sends(ibv.WRSend, 0, ibv.SGE{})
		require.NoError(r.T, c.SetInline(0, 1, ibv.WRSend, 0, region.Bytes()[:8]))
		r.posted(qp.PostSend(c))
		_, err := qp.PostRecv(r.recvs(list(region.SGE(0, 64))))
		return err
	}},
	{"buffer of a queue pair that was closed", func(r *Rig) error {
		qp, c := r.rts(), r.recvs(list(r.region(64).SGE(0, 64)))
		r.posted(qp.PostRecv(c))
		require.NoError(r.T, qp.Close())
		_, err := r.rts().PostRecv(c)
		return err
	}},
	{"buffer of a queue pair that was reset", func(r *Rig) error {
		qp, c := r.rts(), r.recvs(list(r.region(64).SGE(0, 64)))
		r.posted(qp.PostRecv(c))
		require.NoError(r.T, qp.ToReset())
		_, err := r.qp(ibv.QPSRTS, rdma.QPOptions{}).PostRecv(c)
		return err
	}},
	{"buffer of a queue whose completions may be polled elsewhere", func(r *Rig) error {
		qp, c := r.rts(), r.recvs(list(r.region(64).SGE(0, 64)))
		r.posted(qp.PostRecv(c))
		qp.Raw()
		_, err := r.rts().PostRecv(c)
		return err
	}},
	{"lkey of a region without a handle", func(r *Rig) error {
		sge := r.region(64).SGE(0, 64)
		r.PD.Raw()
		sge.LKey ^= 0x5a5a00
		_, err := r.rts().PostRecv(r.recvs(list(sge)))
		return err
	}},
	{"lkey of a region that was registered anew", func(r *Rig) error {
		sge, raw := r.region(64).SGE(0, 64), r.region(64).Raw()
		mine := raw.LKey
		raw.LKey ^= 0x5a5a00
		defer func() { raw.LKey = mine }()
		sge.Addr, sge.LKey = uint64(raw.Addr), raw.LKey
		_, err := r.rts().PostRecv(r.recvs(list(sge)))
		return err
	}},
	{"region that was moved from another protection domain", func(r *Rig) error {
		region := r.regionFor(r.pd(), 64, ibv.AccessLocalWrite)
		region.Raw()
		_, err := r.rts().PostRecv(r.recvs(list(region.SGE(0, 64))))
		return err
	}},
	{"part of a chain whose end leads elsewhere", func(r *Rig) error {
		c := r.recvs(list(), list(), list())
		c.WR(2).Next = c.WR(0)
		_, err := r.rts().PostRecvRange(c, 1, 3)
		return err
	}},
}
