//go:build !freebsd

package conformance

import (
	"slices"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// newerScenarios are of what FreeBSD's libibverbs does not have.
var newerScenarios = slices.Concat(extendedScenarios, batchScenarios, domainScenarios, []Scenario{
	{"cq", "moderated", "ibv_modify_cq(3)", cqModerated},
	{"query", "the GID tables of all ports", "ibv_query_gid_table(3)", queryGIDTable},
	{"query", "the P_Key table", "ibv_query_pkey(3), ibv_get_pkey_index(3)", queryPKeys},
	{"region", "counted from an address of its own", "ibv_reg_mr(3)", mrIOVA},
})

// resolvesEthernet is that ibv_resolve_eth_l2_from_gid finds addresses.
const resolvesEthernet = true

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

// The device counts from the address that it is told.
func mrIOVA(t *T) {
	a, b := t.Pair(PairOptions{})
	buf, err := ibv.AllocBuffer(4096)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Free()) })
	const iova = 0x10000000
	raw, err := t.PD().Raw().RegMRIOVA(buf, iova, t.All())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, raw.Close()) })
	Fill(a.Slot(0, 100), 7)
	if t.Differs(OwnAddresses) { // and counts from the memory's address as ever
		writes(t, a, b, 100, uint64(raw.Addr)+8, raw.RKey)
		require.Equal(t, a.Slot(0, 100), []byte(buf[8:108]))
		return
	}
	writes(t, a, b, 100, iova+8, raw.RKey)
	require.Equal(t, a.Slot(0, 100), []byte(buf[8:108]))
	// And in entries.
	chain := t.Sends(1, 1)
	require.NoError(t, chain.SetSGE(0, 1, ibv.WRSend, ibv.SendSignaled, ibv.SGE{Addr: iova + 8, Length: 50, LKey: raw.LKey}))
	b.Buffers(1, 100)
	a.Post(chain)
	t.Done(a.SendCQ, 1)
	t.Done(b.RecvCQ, 1)
	require.Equal(t, []byte(buf[8:58]), b.Slot(0, 100)[:50])
}

func queryGIDTable(t *T) {
	raw := t.Device().Raw()
	all := make([]ibv.GIDEntry, int(t.Attr().PhysPortCnt)*int(t.Port().GIDTblLen))
	n, err := raw.QueryGIDTable(all)
	require.NoError(t, err)
	of, err := t.Device().GIDs(t.GID().PortNum)
	require.NoError(t, err)
	for _, entry := range of {
		require.Contains(t, all[:n], entry)
	}
	if n > 1 {
		_, err = raw.QueryGIDTable(all[:n-1])
		require.ErrorIs(t, err, syscall.EINVAL, "no room for all")
	}
}

func queryPKeys(t *T) {
	number, port := t.GID().PortNum, t.Port()
	known := map[ibv.BE16]bool{}
	for i := range uint32(port.PKeyTblLen) {
		pkey, err := t.Device().PKey(number, i)
		require.NoError(t, err)
		if known[pkey] || pkey.Host()&0x7fff == 0 {
			continue
		}
		known[pkey] = true
		index, err := t.Device().Raw().PKeyIndex(number, pkey)
		require.NoError(t, err)
		require.EqualValues(t, i, index, "P_Key %v", pkey)
	}
	if !t.provider.IWARP {
		require.NotEmpty(t, known)
	}
	_, err := t.Device().PKey(number, uint32(port.PKeyTblLen))
	require.Error(t, err, "behind the table")
	other := ibv.ToBE16(0x1234)
	if !known[other] {
		_, err = t.Device().Raw().PKeyIndex(number, other)
		require.Error(t, err, "a P_Key that the port has not")
	}
}
