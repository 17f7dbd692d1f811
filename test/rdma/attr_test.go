//go:build device && linux

package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// Handles tell what C tells, and ErrClosed after Close.
func TestAttributes(t *testing.T) {
	r := newRig(t)
	cq := r.cq(16)
	require.Equal(t, int(cq.Raw().CQE), cq.Entries())
	require.NoError(t, cq.Resize(128))
	require.GreaterOrEqual(t, cq.Entries(), 128)
	require.ErrorIs(t, cq.Resize(0), syscall.EINVAL)

	srq, err := r.pd.CreateSRQ(8, rdma.SRQOptions{})
	require.NoError(t, err)
	require.NoError(t, srq.Modify(ibv.SRQAttr{SRQLimit: 3}, ibv.SRQLimit))
	attr, err := srq.Query()
	require.NoError(t, err)
	require.EqualValues(t, 3, attr.SRQLimit)

	qp, err := r.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	number := qp.Raw().QPNum
	require.Equal(t, number, qp.Number())
	require.Equal(t, ibv.QPTRC, qp.Type())
	require.NoError(t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSReset}, ibv.QPAttrMaskState))
	require.NoError(t, qp.ToInit(1, access))
	for _, to := range []ibv.QPState{ibv.QPSErr, ibv.QPSReset} {
		require.NoError(t, qp.Modify(&ibv.QPAttr{QPState: to}, ibv.QPAttrMaskState))
		state, err := qp.State()
		require.NoError(t, err)
		require.Equal(t, to, state)
	}
	_, init, err := qp.Query(ibv.QPAttrMaskCap)
	require.NoError(t, err)
	_, same, err := qp.Raw().Query(ibv.QPAttrMaskCap)
	require.NoError(t, err)
	require.Equal(t, same.Cap, init.Cap)
	require.NotZero(t, init.Cap.MaxSendWR)

	dev := r.dev
	require.Equal(t, deviceName, dev.Name())
	limits, err := dev.Query()
	require.NoError(t, err)
	more, err := dev.QueryEx()
	require.NoError(t, err)
	require.Equal(t, limits.MaxQP, more.OrigAttr.MaxQP)
	require.NotZero(t, limits.MaxQP)
	port, err := dev.Port(1)
	require.NoError(t, err)
	require.Equal(t, ibv.PortActive, port.State)
	gids, err := dev.GIDs(1)
	require.NoError(t, err)
	require.NotEmpty(t, gids)
	pkey, err := dev.PKey(1, 0)
	require.NoError(t, err)
	require.Equal(t, ibv.BE16(0xffff), pkey)

	require.NoError(t, dev.CloseAll())
	require.Equal(t, number, qp.Number())
	require.Equal(t, deviceName, dev.Name())
	require.Zero(t, cq.Entries())
	for name, call := range map[string]func() error{
		"CQ.Resize":    func() error { return cq.Resize(1) },
		"SRQ.Query":    func() error { _, err := srq.Query(); return err },
		"SRQ.Modify":   func() error { return srq.Modify(ibv.SRQAttr{}, ibv.SRQLimit) },
		"QP.State":     func() error { _, err := qp.State(); return err },
		"QP.Query":     func() error { _, _, err := qp.Query(ibv.QPAttrMaskCap); return err },
		"QP.Modify":    func() error { return qp.Modify(&ibv.QPAttr{}, 0) },
		"QP.ToErr":     qp.ToErr,
		"Device.Query": func() error { _, err := dev.Query(); return err },
		"Device.Ex":    func() error { _, err := dev.QueryEx(); return err },
		"Device.Port":  func() error { _, err := dev.Port(1); return err },
		"Device.GIDs":  func() error { _, err := dev.GIDs(1); return err },
		"Device.PKey":  func() error { _, err := dev.PKey(1, 0); return err },
	} {
		require.ErrorIs(t, call(), rdma.ErrClosed, name)
	}
}

// A memory window, which package rdma has no type for, joins the lifetimes.
func TestOwn(t *testing.T) {
	guest.Needs(t, guest.Windows)
	r := newRig(t)
	window, err := rdma.Own("memory window", func() (*ibv.MW, error) { return r.pd.Raw().AllocMW(ibv.MWType2) }, r.pd)
	require.NoError(t, err)
	require.ErrorContains(t, r.pd.Close(), window.String())
	require.NotZero(t, window.Raw().RKey)
	require.NoError(t, window.Do("bind", func(mw *ibv.MW) error { require.Same(t, window.Raw(), mw); return nil }))
	require.NoError(t, r.pd.CloseAll())
	require.ErrorIs(t, window.Close(), rdma.ErrClosed)
	_, err = rdma.Own("memory window", func() (*ibv.MW, error) { return r.pd.Raw().AllocMW(ibv.MWType2) }, r.pd)
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// What belongs to another opening of the device is refused, adopted or not.
func TestOtherDevice(t *testing.T) {
	r, other := newRig(t), newRig(t)
	cq := other.cq(8)
	_, err := r.pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.ErrorIs(t, err, syscall.EINVAL)
	var ours *rdma.Error
	require.ErrorAs(t, err, &ours, "before C is asked")
	_, err = r.dev.AdoptCQ(cq.Raw(), rdma.CQOptions{})
	require.ErrorAs(t, err, &ours)
	_, err = r.dev.AdoptPD(other.pd.Raw())
	require.ErrorAs(t, err, &ours)
	_, err = r.dev.AdoptPD(nil)
	require.ErrorAs(t, err, &ours)
	require.NoError(t, r.pd.Close(), "nothing stays of what was refused")
}

// What was adopted is not destroyed, and its lifetime is like any other's.
func TestAdopted(t *testing.T) {
	rdma.NoLeaks(t)
	base := kernelHas(t, deviceName)
	ctx, err := ibv.Open(deviceName)
	require.NoError(t, err)
	rawPD, err := ctx.AllocPD()
	require.NoError(t, err)
	rawCQ, err := ctx.CreateCQ(8)
	require.NoError(t, err)

	dev, err := rdma.AdoptDevice(ctx, rdma.DeviceOptions{})
	require.NoError(t, err)
	pd, err := dev.AdoptPD(rawPD)
	require.NoError(t, err)
	cq, err := dev.AdoptCQ(rawCQ, rdma.CQOptions{})
	require.NoError(t, err)
	_, err = pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.NoError(t, err)
	require.ErrorIs(t, cq.Close(), syscall.EBUSY)
	require.NoError(t, dev.CloseAll())
	require.ErrorIs(t, pd.Close(), rdma.ErrClosed)
	require.Equal(t, resources{PD: 1, CQ: 1, Ctx: 1}, kernelHas(t, deviceName).minus(base))

	require.NoError(t, rawCQ.Close())
	require.NoError(t, rawPD.Close())
	require.NoError(t, ctx.Close())
	require.Equal(t, base, kernelHas(t, deviceName))
}
