//go:build !freebsd

package ibvtest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// Hooks are told the names that man pages have, whatever symbol or operation a verb goes by, and of which device.
func TestFunctionsAreTheManPages(t *testing.T) {
	f := ibvtest.New(t, ibvtest.Devices(2))
	ctx, err := ibv.Open(f.Names()[1])
	require.NoError(t, err)
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	dm, err := ctx.AllocDM(&ibv.AllocDMAttr{Length: 64})
	require.NoError(t, err)
	cq, err := ctx.CreateCQ(4)
	require.NoError(t, err)
	memory, err := ibv.AllocBuffer(4096)
	require.NoError(t, err)
	defer func() { require.NoError(t, memory.Free()) }()
	defer func() { require.NoError(t, ctx.Close()) }()
	var told []string
	defer f.OnCall(func(c *ibvtest.Call) {
		assert.Equal(t, f.Names()[1], c.Device)
		told = append(told, c.Function)
	})()
	for function, call := range map[string]func() error{
		"ibv_query_port":         func() error { return second(ctx.QueryPort(1)) },
		"ibv_query_gid_table":    func() error { return second(ctx.QueryGIDTable(make([]ibv.GIDEntry, 64))) },
		"ibv_query_gid_ex":       func() error { return second(ctx.QueryGIDEntry(1, 0)) },
		"ibv_query_device_ex":    func() error { return second(ctx.QueryDeviceEx()) },
		"ibv_query_rt_values_ex": func() error { return second(ctx.QueryRTValues(ibv.ValuesMaskRawClock)) },
		"ibv_reg_mr":             func() error { return second(pd.RegMR(memory, ibv.AccessLocalWrite)) },
		"ibv_reg_mr_iova":        func() error { return second(pd.RegMRIOVA(memory, 1<<40, ibv.AccessLocalWrite)) },
		"ibv_alloc_mw":           func() error { return second(pd.AllocMW(ibv.MWType1)) },
		"ibv_memcpy_from_dm":     func() error { return second(dm.ReadAt(memory[:8], 0)) },
		"ibv_req_notify_cq":      func() error { return cq.ReqNotify(false) },
		"ibv_create_qp_ex": func() error {
			return second(ctx.CreateQPEx(&ibv.QPInitAttrEx{
				SendCQ: cq, RecvCQ: cq, QPType: ibv.QPTRC, PD: pd,
				CompMask: ibv.QPInitAttrPD | ibv.QPInitAttrSendOpsFlags, SendOpsFlags: uint64(ibv.QPExWithSend),
			}))
		},
	} {
		told = nil
		require.NoError(t, call(), function)
		require.Equal(t, []string{function}, told)
		require.Contains(t, ibvtest.Functions(), function)
	}
}

// Each name is that of a verb which package ibv has, by what its comments say of C.
func TestFunctionsAreVerbs(t *testing.T) {
	var source []byte
	files, err := filepath.Glob("../ibv/*.go")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		source = append(source, text...)
	}
	names := ibvtest.Functions()
	require.Greater(t, len(names), 80)
	for _, name := range names {
		assert.Regexp(t, regexp.MustCompile(`// C:[^\n]*\b`+name+`\b`), string(source))
	}
}

// Hooks are told what a work request, and its message, does.
func TestHooksSeeOpcodes(t *testing.T) {
	r := newRig(t)
	a, b := r.qp(ibv.QPTRC), r.qp(ibv.QPTRC)
	connect(t, a, b)
	memory, err := r.pd.AllocRegion(64, rdma.RegionOptions{Access: ibv.AccessLocalWrite | ibv.AccessRemoteRead})
	require.NoError(t, err)
	var posted, sent []ibv.WROpcode
	r.f.OnPost(func(p *ibvtest.PostedWR) { posted = append(posted, p.Opcode) })
	r.f.OnMessage(func(m *ibvtest.Message) { sent = append(sent, m.Opcode) })
	_, err = b.Raw().PostRecv(&ibv.RecvWR{})
	require.NoError(t, err)
	send, err := ibv.NewSendChain(2, 1)
	require.NoError(t, err)
	require.NoError(t, send.Set(0, 0, ibv.WRSend, 0))
	require.NoError(t, send.SetRDMA(1, 0, ibv.WRRDMARead, 0, memory.SGE(0, 8), memory.SGE(8, 8).Addr, memory.RKey()))
	_, err = a.PostSend(send)
	require.NoError(t, err)
	require.Equal(t, []ibv.WROpcode{0, ibv.WRSend, ibv.WRRDMARead}, posted)
	require.Equal(t, []ibv.WROpcode{ibv.WRSend, ibv.WRRDMARead}, sent)
}
