package conformance

import (
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var regionScenarios = []Scenario{
	{"region", "keys are its own", "IBTA 10.6.3; ibv_reg_mr(3)", mrKeys},
	{"region", "remote writes want local ones", "ibv_reg_mr(3); IBTA 11.2.7.2", mrRemoteWantsLocal},
	{"region", "refused", "ibv_reg_mr(3)", mrRefused},
	{"region", "several on the same memory", "IBTA 10.6.3; ibv_reg_mr(3)", mrOverlapping},
	{"region", "many", "ibv_query_device(3)", mrMany},
	{"region", "changed access", "ibv_rereg_mr(3)", mrChangedAccess},
	{"region", "changed memory", "ibv_rereg_mr(3)", mrChangedMemory},
	{"region", "changed protection domain", "ibv_rereg_mr(3)", mrChangedPD},
	{"region", "changes that are refused", "ibv_rereg_mr(3)", mrChangeRefused},
}

func mrKeys(t *T) {
	const n = 20
	lkeys, rkeys := map[uint32]bool{}, map[uint32]bool{}
	for range n {
		r := t.Region(64, 0)
		require.False(t, lkeys[r.LKey()], "an lkey is one region's")
		require.False(t, rkeys[r.RKey()], "an rkey is one region's")
		lkeys[r.LKey()], rkeys[r.RKey()] = true, true
		require.EqualValues(t, 64, r.Raw().Length)
		require.Same(t, t.PD().Raw(), r.Raw().PD)
		require.Same(t, t.Device().Raw(), r.Raw().Context)
		require.Equal(t, r.LKey(), r.Raw().LKey)
		require.Equal(t, r.RKey(), r.Raw().RKey)
	}
}

func mrRemoteWantsLocal(t *T) {
	for _, access := range []ibv.AccessFlags{ibv.AccessRemoteWrite, ibv.AccessRemoteAtomic, ibv.AccessRemoteWrite | ibv.AccessRemoteRead} {
		_, err := t.PD().Register(make([]byte, 64), access)
		require.ErrorIs(t, err, syscall.EINVAL, "%v", access)
	}
	for _, access := range []ibv.AccessFlags{0, ibv.AccessLocalWrite, ibv.AccessRemoteRead, ibv.AccessLocalWrite | ibv.AccessRemoteWrite} {
		r, err := t.PD().Register(make([]byte, 64), access)
		require.NoError(t, err, "%v", access)
		require.NoError(t, r.Close())
	}
}

func mrRefused(t *T) {
	_, err := t.PD().Register(nil, ibv.AccessLocalWrite)
	require.ErrorIs(t, err, syscall.EINVAL, "no memory")
	_, err = t.PD().Register(make([]byte, 64), 1<<18)
	require.Error(t, err, "access that nobody knows")
}

func mrOverlapping(t *T) {
	a, b := t.Pair(PairOptions{})
	memory := make([]byte, 128)
	whole, err := t.PD().Register(memory, t.All())
	require.NoError(t, err)
	part, err := t.PD().Register(memory[32:96], t.All())
	require.NoError(t, err)
	require.NotEqual(t, whole.RKey(), part.RKey())
	Fill(a.Slot(0, 16), 5)
	writes(t, a, b, 16, part.SGE(0, 16).Addr, part.RKey())
	require.Equal(t, a.Slot(0, 16), memory[32:48])
	require.NoError(t, part.Close())
	Fill(a.Slot(0, 16), 6)
	writes(t, a, b, 16, whole.SGE(32, 16).Addr, whole.RKey())
	require.Equal(t, a.Slot(0, 16), memory[32:48], "the other one stays")
}

// otherPD is a second protection domain.
func otherPD(t *T) *rdma.PD {
	pd, err := t.Device().AllocPD()
	require.NoError(t, err)
	return pd
}

func mrMany(t *T) {
	n := min(500, int(t.Attr().MaxMR))
	memory := make([]byte, n)
	var all []*rdma.Region
	for i := range n {
		r, err := t.PD().Register(memory[i:i+1], ibv.AccessLocalWrite)
		require.NoError(t, err)
		all = append(all, r)
	}
	for _, r := range all {
		require.NoError(t, r.Close())
	}
}

// changeable is a region of C's, of memory of its own.
func changeable(t *T, access ibv.AccessFlags) (mr *ibv.MR, memory []byte) {
	t.Needs(Reregistration)
	buf, err := ibv.AllocBuffer(8192)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Free()) })
	mr, err = t.PD().Raw().RegMR(buf[:4096], access)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mr.Close()) })
	return mr, buf
}

func mrChangedAccess(t *T) {
	mr, memory := changeable(t, t.All())
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 8), 1)
	writes(t, a, b, 8, uint64(mr.Addr), mr.RKey)
	require.Equal(t, a.Slot(0, 8), memory[:8])
	require.NoError(t, mr.Rereg(ibv.ReregMRChangeAccess, nil, nil, ibv.AccessLocalWrite|ibv.AccessRemoteRead))
	Fill(a.Slot(0, 8), 2)
	refused(t, a, b, 8, uint64(mr.Addr), mr.RKey, memory)
	require.NoError(t, mr.Rereg(ibv.ReregMRChangeAccess, nil, nil, t.All()))
	again, peer := t.Pair(PairOptions{})
	Fill(again.Slot(0, 8), 3)
	writes(t, again, peer, 8, uint64(mr.Addr), mr.RKey)
	require.Equal(t, again.Slot(0, 8), memory[:8])
}

func mrChangedMemory(t *T) {
	mr, memory := changeable(t, t.All())
	a, b := t.Pair(PairOptions{})
	require.NoError(t, mr.Rereg(ibv.ReregMRChangeTranslation, nil, memory[4096:8192], 0))
	require.EqualValues(t, 4096, mr.Length)
	Fill(a.Slot(0, 8), 1)
	writes(t, a, b, 8, uint64(mr.Addr), mr.RKey)
	require.Equal(t, a.Slot(0, 8), memory[4096:4104])
	require.Equal(t, make([]byte, 8), memory[:8], "not where it was before")
}

func mrChangedPD(t *T) {
	mr, memory := changeable(t, t.All())
	pd := otherPD(t)
	require.NoError(t, mr.Rereg(ibv.ReregMRChangePD, pd.Raw(), nil, 0))
	require.Same(t, pd.Raw(), mr.PD)
	a, b := t.Pair(PairOptions{})
	refused(t, a, b, 8, uint64(mr.Addr), mr.RKey, memory)
	require.NoError(t, mr.Rereg(ibv.ReregMRChangePD, t.PD().Raw(), nil, 0))
	again, peer := t.Pair(PairOptions{})
	Fill(again.Slot(0, 8), 3)
	writes(t, again, peer, 8, uint64(mr.Addr), mr.RKey)
	require.Equal(t, again.Slot(0, 8), memory[:8])
}

// A change that is refused leaves the region as it was.
func mrChangeRefused(t *T) {
	buf, err := ibv.AllocBuffer(4096)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, buf.Free()) })
	mr, err := t.PD().Raw().RegMR(buf, t.All())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, mr.Close()) })
	for what, change := range map[string]func() error{
		"a flag that nobody knows":    func() error { return mr.Rereg(0x80, nil, nil, 0) },
		"no protection domain":        func() error { return mr.Rereg(ibv.ReregMRChangePD, nil, nil, 0) },
		"no memory":                   func() error { return mr.Rereg(ibv.ReregMRChangeTranslation, nil, nil, 0) },
		"remote writes without local": func() error { return mr.Rereg(ibv.ReregMRChangeAccess, nil, nil, ibv.AccessRemoteWrite) },
	} {
		var failed *ibv.ReregMRError
		require.ErrorAs(t, change(), &failed, what)
		require.Equal(t, ibv.ReregMRErrInput, failed.Code, what)
	}
	a, b := t.Pair(PairOptions{})
	Fill(a.Slot(0, 8), 9)
	writes(t, a, b, 8, uint64(mr.Addr), mr.RKey)
	require.Equal(t, a.Slot(0, 8), []byte(buf[:8]))
}
