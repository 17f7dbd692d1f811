//go:build !freebsd

package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var moderationScenarios = []Scenario{
	{"cq", "moderated", "ibv_modify_cq(3)", cqModerated},
}

func lacksModeration(t *T) string {
	cq := t.CQ(1, rdma.CQOptions{NoChannel: true})
	return missing(t, "a way to hold events of completion queues back", func() error {
		return cq.Modify(ibv.ModifyCQAttr{AttrMask: ibv.CQAttrModerate})
	})
}

// Events may be held back, as the device says that it can, and completions are polled as
// ever.
func cqModerated(t *T) {
	t.Needs(Moderation)
	attr, err := t.Device().QueryEx()
	require.NoError(t, err)
	most := attr.CQModCaps
	require.NotZero(t, most.MaxCQCount)
	cq := t.CQ(8, rdma.CQOptions{})
	require.NoError(t, cq.Modify(ibv.ModifyCQAttr{
		AttrMask: ibv.CQAttrModerate, Moderate: ibv.ModerateCQ{CQCount: most.MaxCQCount, CQPeriod: most.MaxCQPeriod},
	}))
	f := newFlushes(t, 3, cq)
	f.flush(3)
	require.Len(t, t.Poll(cq, 3), 3)
	require.NoError(t, cq.Modify(ibv.ModifyCQAttr{AttrMask: ibv.CQAttrModerate}), "not at all, again")
}
