//go:build !freebsd

package ibvtest_test

import (
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
)

// bare is an opened device, without the handles that know what is closed.
type bare struct {
	ctx *ibv.Context
	pd  *ibv.PD
	cq  *ibv.CQ
}

func openBare(t *testing.T, name string) bare {
	t.Helper()
	ctx, err := ibv.Open(name)
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(16)
	require.NoError(t, err)
	return bare{ctx, pd, cq}
}

func (b bare) attr(typ ibv.QPType) *ibv.QPInitAttr {
	return &ibv.QPInitAttr{SendCQ: b.cq, RecvCQ: b.cq, QPType: typ, Cap: ibv.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}}
}

// What is closed is closed once, and says so from then on.
func TestClosedObjects(t *testing.T) {
	b := openBare(t, ibvtest.New(t).Names()[0])
	srq, err := b.pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 4, MaxSGE: 1}})
	require.NoError(t, err)
	mr, err := b.pd.RegMR(make([]byte, 64), ibv.AccessLocalWrite)
	require.NoError(t, err)
	mw, err := b.pd.AllocMW(ibv.MWType1)
	require.NoError(t, err)
	channel, err := b.ctx.CreateCompChannel()
	require.NoError(t, err)
	qp, err := b.pd.CreateQP(b.attr(ibv.QPTRC))
	require.NoError(t, err)
	require.NoError(t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskPort|ibv.QPAttrMaskPKeyIndex|ibv.QPAttrMaskAccessFlags))
	for _, o := range []io.Closer{qp, srq, mr, mw, b.cq, channel, b.pd} {
		require.NoError(t, o.Close(), "%T", o)
		assert.ErrorIs(t, o.Close(), syscall.EINVAL, "%T", o)
	}
	_, err = qp.PostSend(&ibv.SendWR{})
	assert.ErrorIs(t, err, syscall.EINVAL)
	_, err = qp.PostRecv(&ibv.RecvWR{})
	assert.ErrorIs(t, err, syscall.EINVAL)
	_, err = srq.PostRecv(&ibv.RecvWR{})
	assert.ErrorIs(t, err, syscall.EINVAL)
	_, err = b.cq.Poll(make([]ibv.WC, 1))
	assert.ErrorIs(t, err, syscall.EINVAL)
	assert.ErrorIs(t, qp.Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState), syscall.EINVAL)
	_, err = b.pd.RegMR(make([]byte, 64), ibv.AccessLocalWrite)
	assert.ErrorIs(t, err, syscall.EINVAL)

	left, err := b.ctx.AllocPD() // which ends with the device
	require.NoError(t, err)
	require.NoError(t, b.ctx.Close())
	assert.ErrorIs(t, left.Close(), syscall.EINVAL)
	assert.ErrorIs(t, b.ctx.Close(), syscall.EINVAL)
	_, err = b.ctx.AllocPD()
	assert.ErrorIs(t, err, syscall.EINVAL)
}

// Attributes name objects of their own context: not those of others, nor what is closed, nor something else.
func TestForeignObjects(t *testing.T) {
	f := ibvtest.New(t, ibvtest.Devices(2))
	b, other := openBare(t, f.Names()[0]), openBare(t, f.Names()[1])
	again := openBare(t, f.Names()[0])
	gone, err := b.ctx.CreateCQ(1)
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	pretends := &ibv.CQ{Context: b.ctx}
	for name, cq := range map[string]*ibv.CQ{"other device": other.cq, "other context": again.cq, "closed": gone, "made up": pretends} {
		attr := b.attr(ibv.QPTRC)
		attr.RecvCQ = cq
		_, err := b.pd.CreateQP(attr)
		assert.ErrorIs(t, err, syscall.EINVAL, name)
	}
	_, err = b.ctx.AllocParentDomain(&ibv.ParentDomainInitAttr{PD: other.pd})
	assert.ErrorIs(t, err, syscall.EINVAL)
	channel, err := other.ctx.CreateCompChannel()
	require.NoError(t, err)
	_, err = b.ctx.CreateCQWithChannel(1, 0, channel, 0)
	assert.ErrorIs(t, err, syscall.EINVAL)
}

// An address handle that is none, or no more, is refused at the post.
func TestAddressHandlesThatAreNone(t *testing.T) {
	w := wire(t, newRig(t), ibv.QPTUD, nil)
	gid, err := w.dev.Raw().QueryGID(1, 0)
	require.NoError(t, err)
	closed, err := w.pd.Raw().CreateAH(&ibv.AHAttr{PortNum: 1, IsGlobal: 1, GRH: ibv.GlobalRoute{DGID: gid}})
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, ah := range map[string]ibv.Ptr[ibv.AH]{"closed": ibv.ToPtr(closed), "no address": 0x1234_5678_9000, "NULL": 0} {
		wr := &ibv.SendWR{Opcode: ibv.WRSend}
		*wr.WR.UD() = ibv.SendWRWRUD{AH: ah, RemoteQPN: w.b.Number(), RemoteQKey: 1 << 31}
		bad, err := w.a.Raw().PostSend(wr)
		assert.ErrorIs(t, err, syscall.EINVAL, name)
		assert.Same(t, wr, bad, name)
	}
}
