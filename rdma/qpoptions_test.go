package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Whoever asks for more of one thing gets no less of another than without asking.
func TestQPOptions(t *testing.T) {
	usual := ibv.QPCap{MaxSendWR: 64, MaxRecvWR: 64, MaxSendSGE: 1, MaxRecvSGE: 1}
	var opts QPOptions
	require.Equal(t, ibv.QPInitAttr{QPType: ibv.QPTRC, Cap: usual}, opts.attr())
	for _, field := range []func(*ibv.QPCap) *uint32{
		func(c *ibv.QPCap) *uint32 { return &c.MaxSendWR },
		func(c *ibv.QPCap) *uint32 { return &c.MaxRecvWR },
		func(c *ibv.QPCap) *uint32 { return &c.MaxSendSGE },
		func(c *ibv.QPCap) *uint32 { return &c.MaxRecvSGE },
		func(c *ibv.QPCap) *uint32 { return &c.MaxInlineData },
	} {
		var opts QPOptions
		want := usual
		*field(&opts.Cap), *field(&want) = 7, 7
		require.Equal(t, want, opts.attr().Cap)
	}
}

// Handles of other queues than the queue pair's own would poll those, and outlive
// nothing.
func TestForeignQueues(t *testing.T) {
	queue := func() *CQ { return &CQ{raw: new(ibv.CQ)} }
	send, recv, srq := queue(), queue(), &SRQ{raw: new(ibv.SRQ)}
	raw := &ibv.QP{SendCQ: send.raw, RecvCQ: recv.raw, SRQ: srq.raw}
	for _, c := range []struct {
		opts    QPOptions
		foreign string
	}{
		{QPOptions{}, ""},
		{QPOptions{SendCQ: send, RecvCQ: recv, SRQ: srq}, ""},
		{QPOptions{SendCQ: recv, RecvCQ: recv}, "SendCQ"},
		{QPOptions{SendCQ: send, RecvCQ: queue()}, "RecvCQ"},
		{QPOptions{SRQ: &SRQ{raw: new(ibv.SRQ)}}, "SRQ"},
	} {
		require.Equal(t, c.foreign, c.opts.foreign(raw))
	}
}
