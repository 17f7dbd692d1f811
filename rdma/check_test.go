//go:build linux

package rdma_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/mistakes"
	"github.com/goverbs/goverbs/internal/recorder"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

// checkedHost is a device whose C the recorder is, in a process with checked mode.
type checkedHost struct {
	*mistakes.Rig
	r     *recorder.Recorder
	ctx   *ibv.Context
	n     uint32         // how many objects were made
	later map[string]any // what functions make after the next call
}

// newCheckedHost runs the test again in a process with checked mode, and returns nil
// in this one.
func newCheckedHost(t *testing.T) *checkedHost {
	t.Helper()
	const role = "RDMA_TEST_CHECKED"
	if os.Getenv(role) == "" {
		library := recorder.Compile(t, t.TempDir(), "recorder.so", recorder.Functions(t, "../ibv/zz_generated.facts.json.gz", "infiniband"))
		scripted.Again(t, "^"+t.Name()+"$", role+"=1", "GOVERBS_CHECK=1", "GOVERBS_LIBIBVERBS="+library)
		return nil
	}
	require.True(t, rdma.Checked())
	h := &checkedHost{r: recorder.Open(t, os.Getenv("GOVERBS_LIBIBVERBS"))}
	whole := recorder.Object[ibv.VerbsContext](h.r)
	whole.Sz = uint64(unsafe.Sizeof(*whole))
	h.ctx = &whole.Context
	h.ctx.ABICompat = ^uintptr(0)
	h.ctx.Device = recorder.Object[ibv.Device](h.r)
	copy(h.ctx.Device.Name[:], "recorder0")
	device, err := rdma.AdoptDevice(h.ctx, rdma.DeviceOptions{})
	require.NoError(t, err)
	h.Rig = &mistakes.Rig{
		T: t, Device: device, Prepare: h, QP: h.qp, From: ibv.GIDEntry{GID: ibv.GIDOf(netip.IPv6Loopback()), PortNum: 1},
		Entries: func(asked int) int { return asked }, Receives: func(asked int) int { return asked }, Longest: 1 << 20, LongestUD: 1024,
	}
	return h
}

// start forgets what was, for a test.
func (h *checkedHost) start(t *testing.T) {
	h.T = t
	h.r.Forget()
	h.later = map[string]any{}
	h.device()
	h.New()
}

// device plays what the device says of itself.
func (h *checkedHost) device() {
	device, port := &ibv.DeviceAttr{PhysPortCnt: 1}, &ibv.PortAttr{MaxMsgSz: 1 << 20, ActiveMTU: ibv.MTU1024, State: ibv.PortActive}
	h.r.Play("ibv_query_device", recorder.Response{Fill: []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(device)}}})
	h.r.Play("VerbsContext.QueryPort", recorder.Response{Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(port)}}})
}

// made is the object that a function makes next.
func made[T any](h *checkedHost, function string) *T {
	h.n++
	play := func() *T {
		object := recorder.Object[T](h.r)
		h.r.Play(function, recorder.Response{Result: address(object)})
		return object
	}
	// The last response goes for all later calls, so there is one more always.
	object, ok := h.later[function].(*T)
	if !ok {
		object = play()
	}
	h.later[function] = play()
	return object
}

func (h *checkedHost) PD() {
	pd := made[ibv.PD](h, "ibv_alloc_pd")
	pd.Context, pd.Handle = h.ctx, h.n
}

func (h *checkedHost) CQ(entries int) {
	cq := made[ibv.CQ](h, "ibv_create_cq")
	cq.Context, cq.Handle, cq.CQE = h.ctx, h.n, int32(entries)
}

func (h *checkedHost) SRQ() {
	srq := made[ibv.SRQ](h, "ibv_create_srq")
	srq.Context, srq.Handle = h.ctx, h.n
}

func (h *checkedHost) AH() {
	ah := made[ibv.AH](h, "ibv_create_ah")
	ah.Context, ah.Handle = h.ctx, h.n
}

func (h *checkedHost) Region(memory []byte) {
	mr := made[ibv.MR](h, "ibv_reg_mr_iova2")
	mr.Context, mr.Addr, mr.Length = h.ctx, uintptr(unsafe.Pointer(unsafe.SliceData(memory))), uint64(len(memory))
	mr.LKey, mr.RKey = h.n<<8, h.n<<8
}

func (h *checkedHost) qp(pd *rdma.PD, opts rdma.QPOptions, state ibv.QPState) *rdma.QP {
	raw := made[ibv.QP](h, "ibv_create_qp")
	raw.Context, raw.QPNum, raw.QPType = h.ctx, h.n, opts.Type
	if raw.QPType == 0 {
		raw.QPType = ibv.QPTRC
	}
	qp, err := pd.CreateQP(opts)
	require.NoError(h.T, err)
	raw.State = state
	return qp
}

func address[T any](object *T) uint64 { return uint64(uintptr(unsafe.Pointer(object))) }

// Each mistake is refused with the error that says so, and C sees nothing of it.
func TestMistakes(t *testing.T) {
	h := newCheckedHost(t)
	if h == nil {
		return
	}
	for _, m := range mistakes.All() {
		t.Run(m.Name, func(t *testing.T) {
			h.start(t)
			m.Require(t, m.Make(h.Rig))
			posts := 0
			for _, call := range h.r.Calls() {
				if strings.Contains(call.Function, ".Post") {
					posts++
				}
			}
			require.Equal(t, m.Posts, posts)
		})
	}
}
