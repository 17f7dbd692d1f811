package conformance

import (
	"errors"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

var queryScenarios = []Scenario{
	{"query", "what a device is", "ibv_get_device_list(3), ibv_open_device(3)", queryNames},
	{"query", "attributes of the device", "ibv_query_device(3)", queryDevice},
	{"query", "two ways to ask the device", "ibv_query_device(3), ibv_query_device_ex(3)", queryDeviceEx},
	{"query", "ports", "ibv_query_port(3)", queryPorts},
	{"query", "the GID table", "ibv_query_gid(3), ibv_query_gid_ex(3)", queryGIDs},
	{"query", "a queue pair is as it was made", "ibv_query_qp(3), ibv_create_qp(3)", queryQueuePair},
	{"query", "a queue pair has room for what was asked", "ibv_create_qp(3)", queryRoom},
	{"query", "queue pairs that cannot be", "ibv_create_qp(3)", queryRefused},
	{"query", "numbers of queue pairs", "ibv_create_qp(3); IBTA 10.2.4", queryNumbers},
	{"query", "contexts of the same device", "ibv_open_device(3)", queryContexts},
}

func queryNames(t *T) {
	list, err := ibv.Devices()
	require.NoError(t, err)
	defer func() { require.NoError(t, list.Close()) }()
	guids := 0
	names := map[string]bool{}
	for _, device := range list.All() {
		require.False(t, names[device.String()], "names are devices' own")
		names[device.String()] = true
		guid, err := device.GUID()
		require.NoError(t, err)
		if guid == t.Attr().NodeGUID {
			guids++
		}
	}
	require.True(t, names[t.Device().Name()])
	require.NotZero(t, guids)
	raw := t.Device().Raw().Device
	require.Equal(t, t.Device().Name(), raw.String())
	if t.provider.IWARP {
		require.Equal(t, ibv.TransportIWARP, raw.TransportType)
		require.Equal(t, ibv.NodeRNIC, raw.NodeType)
	} else {
		require.Equal(t, ibv.TransportIB, raw.TransportType)
		require.Equal(t, ibv.NodeCA, raw.NodeType)
	}
	infos, err := rdma.Devices()
	require.NoError(t, err)
	found := 0
	for _, info := range infos {
		if info.Name == t.Device().Name() {
			found++
		}
	}
	require.Equal(t, 1, found)
	_, err = rdma.Open("no such device", rdma.DeviceOptions{})
	require.Error(t, err)
}

func queryDevice(t *T) {
	attr := t.Attr()
	require.Equal(t, attr, t.Attr(), "asked twice")
	require.NotZero(t, attr.NodeGUID)
	for what, n := range map[string]int32{
		"MaxQP": attr.MaxQP, "MaxQPWR": attr.MaxQPWR, "MaxSGE": attr.MaxSGE, "MaxCQ": attr.MaxCQ, "MaxCQE": attr.MaxCQE,
		"MaxMR": attr.MaxMR, "MaxPD": attr.MaxPD, "PhysPortCnt": int32(attr.PhysPortCnt),
	} {
		require.Positive(t, n, what)
	}
	require.NotZero(t, attr.MaxMRSize)
	require.NotZero(t, attr.PageSizeCap)
	guid, err := t.Device().Raw().Device.GUID()
	require.NoError(t, err)
	require.Equal(t, attr.NodeGUID, guid)
}

// Where a provider has the older call only, C adds nothing to what that one says.
func queryDeviceEx(t *T) {
	attr, err := t.Device().QueryEx()
	require.NoError(t, err)
	require.Equal(t, t.Attr(), attr.OrigAttr)
	if attr.DeviceCapFlagsEx != 0 {
		require.EqualValues(t, attr.OrigAttr.DeviceCapFlags, uint32(attr.DeviceCapFlagsEx))
	}
}

func queryPorts(t *T) {
	ports := uint32(t.Attr().PhysPortCnt)
	for number := uint32(1); number <= ports; number++ {
		port, err := t.Device().Port(number)
		require.NoError(t, err)
		require.GreaterOrEqual(t, port.State, ibv.PortNop)
		require.LessOrEqual(t, port.State, ibv.PortActiveDefer)
		for _, mtu := range []ibv.MTU{port.MaxMTU, port.ActiveMTU} {
			require.GreaterOrEqual(t, mtu, ibv.MTU256)
			require.LessOrEqual(t, mtu, ibv.MTU4096)
		}
		if !t.Differs(MTULimit) {
			require.LessOrEqual(t, port.ActiveMTU, port.MaxMTU)
		}
		require.Positive(t, port.GIDTblLen)
		require.NotZero(t, port.MaxMsgSz)
	}
	require.Equal(t, ibv.PortActive, t.Port().State, "scenarios send by it")
	for _, number := range []uint32{0, ports + 1, 255} {
		_, err := t.Device().Port(number)
		require.ErrorIs(t, err, syscall.EINVAL, "port %d", number)
	}
}

func queryGIDs(t *T) {
	number, port := t.GID().PortNum, t.Port()
	raw := t.Device().Raw()
	var byEntry []ibv.GIDEntry
	for i := range uint32(port.GIDTblLen) {
		entry, err := raw.QueryGIDEntry(number, i)
		if err != nil {
			continue
		}
		byEntry = append(byEntry, entry)
		gid, err := raw.QueryGID(number, i)
		require.NoError(t, err)
		require.Equal(t, entry.GID.Addr(), gid.Addr())
		require.Equal(t, i, entry.GIDIndex)
		require.Equal(t, number, entry.PortNum)
	}
	require.NotEmpty(t, byEntry)
	table, err := t.Device().GIDs(number)
	require.NoError(t, err)
	require.Equal(t, byEntry, table)
	require.Contains(t, table, t.GID())
	for what, query := range map[string]func() error{
		"behind the table": func() error { _, err := raw.QueryGIDEntry(number, uint32(port.GIDTblLen)); return err },
		"port 0":           func() error { _, err := raw.QueryGIDEntry(0, 0); return err },
	} {
		require.Error(t, query(), what)
	}
}

func queryQueuePair(t *T) {
	send, recv := t.CQ(8, rdma.CQOptions{}), t.CQ(8, rdma.CQOptions{})
	qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: send, RecvCQ: recv, SignalAll: true, Cap: caps(3, 5)})
	require.NoError(t, err)
	_, init, err := qp.Query(ibv.QPAttrMaskState | ibv.QPAttrMaskCap)
	require.NoError(t, err)
	require.Same(t, send.Raw(), init.SendCQ)
	require.Same(t, recv.Raw(), init.RecvCQ)
	require.Nil(t, init.SRQ)
	require.Equal(t, ibv.QPTRC, init.QPType)
	require.Equal(t, ibv.QPTRC, qp.Raw().QPType)
	require.Same(t, t.PD().Raw(), qp.Raw().PD)
	require.Same(t, t.Device().Raw(), qp.Raw().Context)
	require.Equal(t, qp.Number(), qp.Raw().QPNum)
	require.GreaterOrEqual(t, init.Cap.MaxSendWR, uint32(3))
	require.GreaterOrEqual(t, init.Cap.MaxRecvWR, uint32(5))
	require.GreaterOrEqual(t, init.Cap.MaxSendSGE, uint32(4))
	require.GreaterOrEqual(t, init.Cap.MaxRecvSGE, uint32(4))
}

func queryRoom(t *T) {
	cq := t.CQ(64, rdma.CQOptions{})
	for _, n := range []uint32{1, 3, 16, 33} {
		attr := ibv.QPInitAttr{SendCQ: cq.Raw(), RecvCQ: cq.Raw(), QPType: ibv.QPTRC, Cap: ibv.QPCap{
			MaxSendWR: n, MaxRecvWR: n + 1, MaxSendSGE: 2, MaxRecvSGE: 3, MaxInlineData: 16,
		}}
		asked := attr.Cap
		qp, err := t.PD().Raw().CreateQP(&attr)
		require.NoError(t, err)
		require.GreaterOrEqual(t, attr.Cap.MaxSendWR, asked.MaxSendWR)
		require.GreaterOrEqual(t, attr.Cap.MaxRecvWR, asked.MaxRecvWR)
		require.GreaterOrEqual(t, attr.Cap.MaxSendSGE, asked.MaxSendSGE)
		require.GreaterOrEqual(t, attr.Cap.MaxRecvSGE, asked.MaxRecvSGE)
		require.GreaterOrEqual(t, attr.Cap.MaxInlineData, asked.MaxInlineData)
		require.NoError(t, qp.Close())
	}
}

func queryRefused(t *T) {
	device := t.Attr()
	cq := t.CQ(4, rdma.CQOptions{})
	for what, spoil := range map[string]func(*ibv.QPInitAttr){
		"more sends than MaxQPWR":        func(a *ibv.QPInitAttr) { a.Cap.MaxSendWR = uint32(device.MaxQPWR) + 1 },
		"more receives than MaxQPWR":     func(a *ibv.QPInitAttr) { a.Cap.MaxRecvWR = uint32(device.MaxQPWR) + 1 },
		"more entries of a send":         func(a *ibv.QPInitAttr) { a.Cap.MaxSendSGE = uint32(device.MaxSGE) + 1 },
		"more entries of a receive":      func(a *ibv.QPInitAttr) { a.Cap.MaxRecvSGE = uint32(device.MaxSGE) + 1 },
		"a type that there is not":       func(a *ibv.QPInitAttr) { a.QPType = 77 },
		"more inline data than there is": func(a *ibv.QPInitAttr) { a.Cap.MaxInlineData = 1 << 30 },
	} {
		attr := ibv.QPInitAttr{SendCQ: cq.Raw(), RecvCQ: cq.Raw(), QPType: ibv.QPTRC, Cap: caps(1, 1)}
		spoil(&attr)
		qp, err := t.PD().Raw().CreateQP(&attr)
		if err == nil {
			require.NoError(t, qp.Close())
		}
		require.Error(t, err, what)
		require.False(t, errors.Is(err, syscall.ENODEV), what)
	}
	_, err := t.PD().Raw().CreateQP(nil)
	require.ErrorIs(t, err, syscall.EINVAL)
}

func queryNumbers(t *T) {
	cq := t.CQ(4, rdma.CQOptions{})
	numbers := map[uint32]bool{}
	for range 30 {
		qp, err := t.PD().CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: caps(1, 1)})
		require.NoError(t, err)
		require.False(t, numbers[qp.Number()], "a number is one queue pair's")
		require.Less(t, qp.Number(), uint32(1<<24))
		if !t.provider.IWARP {
			require.Greater(t, qp.Number(), uint32(1), "0 and 1 are the subnet's and the services' own")
		}
		numbers[qp.Number()] = true
	}
}

// Two openings of a device have nothing to do with each other.
func queryContexts(t *T) {
	other, err := rdma.Open(t.Device().Name(), rdma.DeviceOptions{})
	require.NoError(t, err)
	require.NotSame(t, t.Device().Raw(), other.Raw())
	pd, err := other.AllocPD()
	require.NoError(t, err)
	cq := t.CQ(4, rdma.CQOptions{})
	_, err = pd.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
	require.ErrorIs(t, err, syscall.EINVAL, "objects of two openings do not go together")
	attr, err := other.Query()
	require.NoError(t, err)
	require.Equal(t, t.Attr(), attr)
	require.NoError(t, other.CloseAll())
	require.Equal(t, attr, t.Attr(), "the end of one leaves the other")
}
