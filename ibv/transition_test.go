package ibv

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// On iWARP, the addresses of a path are not what is wrong.
func TestIWARPIsConnectedByRDMACM(t *testing.T) {
	for _, device := range []*Device{{NodeType: NodeRNIC}, {TransportType: TransportIWARP}} {
		qp := &QP{Context: &Context{Device: device}, QPType: QPTRC, State: QPSRTR}
		err := qp.explain(&Error{Op: "move", Errno: syscall.EINVAL, Hint: "general advice"}, &QPAttr{QPState: QPSRTS}, QPTRC.Needs(QPSRTR, QPSRTS))
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, "connected by librdmacm alone")
		require.NotContains(t, err.Error(), "GID")
	}
	// What libibverbs does not have is not explained by the device.
	missing := action{op: "move"}.failed(syscall.EOPNOTSUPP)
	require.Equal(t, missing.Error(), explainWith(missing, func() []string { return []string{"another"} }).Error())
}

// Every state of C's is one that a queue pair can leave, and go on its way.
func TestNextStates(t *testing.T) {
	for state := QPSReset; state <= QPSErr; state++ {
		require.Contains(t, state.next(), QPSReset, "%v", state)
	}
	require.Equal(t, "IBV_QPS_RTS, IBV_QPS_ERR or IBV_QPS_RESET", or([]QPState{QPSRTS, QPSErr, QPSReset}))
	require.Equal(t, "IBV_QPS_RESET", or([]QPState{QPSReset}))
	require.Equal(t, []QPState{QPSReset, QPSInit, QPSRTR, QPSErr}, QPSInit.next())
}

// The attributes that ibv_modify_qp(3) lists, as it spells them; and
// for XRC those of the InfiniBand specification.
func TestRequiredAttributes(t *testing.T) {
	for typ, lists := range map[QPType][3]string{
		QPTUD: {"IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_QKEY", "IBV_QP_STATE", "IBV_QP_STATE, IBV_QP_SQ_PSN"},
		QPTUC: {
			"IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_ACCESS_FLAGS",
			"IBV_QP_STATE, IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN",
			"IBV_QP_STATE, IBV_QP_SQ_PSN",
		},
		QPTRC: {
			"IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_ACCESS_FLAGS",
			"IBV_QP_STATE, IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER",
			"IBV_QP_STATE, IBV_QP_SQ_PSN, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_TIMEOUT",
		},
		QPTRawPacket: {"IBV_QP_STATE, IBV_QP_PORT", "IBV_QP_STATE", "IBV_QP_STATE"},
		QPTXRCSend: {
			"IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_ACCESS_FLAGS",
			"IBV_QP_STATE, IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN",
			"IBV_QP_STATE, IBV_QP_SQ_PSN, IBV_QP_MAX_QP_RD_ATOMIC, IBV_QP_RETRY_CNT, IBV_QP_RNR_RETRY, IBV_QP_TIMEOUT",
		},
		QPTXRCRecv: {
			"IBV_QP_STATE, IBV_QP_PKEY_INDEX, IBV_QP_PORT, IBV_QP_ACCESS_FLAGS",
			"IBV_QP_STATE, IBV_QP_AV, IBV_QP_PATH_MTU, IBV_QP_DEST_QPN, IBV_QP_RQ_PSN, IBV_QP_MAX_DEST_RD_ATOMIC, IBV_QP_MIN_RNR_TIMER",
			"IBV_QP_STATE, IBV_QP_SQ_PSN, IBV_QP_TIMEOUT",
		},
	} {
		for i, list := range lists {
			names := strings.Split(list, ", ")
			require.ElementsMatch(t, names, strings.Split(typ.Needs(QPState(i), QPState(i+1)).String(), "|"), "%v to %v", typ, QPState(i+1))
		}
	}
}

// What the kernel's table, compiled, has for the types that Soft-RoCE has not, in
// numbers: the other types are compared on a device.
func TestTransitionsOfOtherTypes(t *testing.T) {
	want := map[QPType]map[transition]attributes{
		QPTRawPacket: {
			{QPSReset, QPSInit}: {0x20, 0},
			{QPSRTR, QPSRTS}:    {0, 0x2000000},
			{QPSRTS, QPSRTS}:    {0, 0x2000000},
		},
		QPTXRCSend: {
			{QPSReset, QPSInit}: {0x38, 0},
			{QPSInit, QPSInit}:  {0, 0x38},
			{QPSInit, QPSRTR}:   {0x101180, 0x4018},
			{QPSRTR, QPSRTS}:    {0x12e00, 0x4400a},
			{QPSRTS, QPSRTS}:    {0, 0x4400a},
			{QPSRTS, QPSSQD}:    {0, 0x4},
			{QPSSQD, QPSRTS}:    {0, 0x4400a},
			{QPSSQD, QPSSQD}:    {0, 0x46eb8},
		},
		QPTXRCRecv: {
			{QPSReset, QPSInit}: {0x38, 0},
			{QPSInit, QPSInit}:  {0, 0x38},
			{QPSInit, QPSRTR}:   {0x129180, 0x4018},
			{QPSRTR, QPSRTS}:    {0x10200, 0x4c00a},
			{QPSRTS, QPSRTS}:    {0, 0x4c00a},
			{QPSRTS, QPSSQD}:    {0, 0x4},
			{QPSSQD, QPSRTS}:    {0, 0x4c00a},
			{QPSSQD, QPSSQD}:    {0, 0x6c2b8},
		},
	}
	for typ, takes := range want {
		for change := range transitions {
			got, possible := typ.takes(change)
			require.True(t, possible)
			require.Equal(t, takes[change], got, "%v %v", typ, change)
		}
	}
}

// What the table does not know it has no objection to, so that the device decides.
func TestTableLeavesUnknownThingsAlone(t *testing.T) {
	const everything = ^QPAttrMask(0)
	for _, typ := range []QPType{0, 1, 77, 0xff} {
		require.Empty(t, typ.objections(QPSReset, &QPAttr{QPState: QPSRTS}, tabled), "%v", typ)
	}
	require.NotEmpty(t, QPTRC.objections(QPSReset, &QPAttr{QPState: QPSRTS}, tabled))
	require.Empty(t, QPTRC.objections(QPSReset, &QPAttr{QPState: QPSRTS}, everything))
	require.Empty(t, QPTRC.objections(QPSRTS, &QPAttr{}, QPAttrMaskRateLimit))
	require.Empty(t, QPTRC.objections(QPSUnknown, &QPAttr{QPState: QPSRTS}, QPAttrMaskState))
	// Drivers differ in whether they believe the caller about the state.
	cur := QPAttr{QPState: QPSRTS, CurQPState: QPSRTS}
	require.Empty(t, QPTRC.objections(QPSInit, &cur, QPAttrMaskState|QPAttrMaskCurState))
	require.NotEmpty(t, QPTRC.objections(QPSInit, &cur, QPAttrMaskState))
	cur.CurQPState = QPSReset
	require.NotEmpty(t, QPTRC.objections(QPSInit, &cur, QPAttrMaskState|QPAttrMaskCurState))
}

// The kernel drops what an end of XRC has no use for.
func TestXRCTakesWhatBothEndsNeed(t *testing.T) {
	for _, typ := range []QPType{QPTXRCSend, QPTXRCRecv} {
		for change := range transitions {
			rc, _ := QPTRC.takes(change)
			require.Empty(t, typ.objections(change.from, &QPAttr{QPState: change.to}, QPAttrMaskState|rc.required), "%v %v", typ, change)
		}
	}
}
