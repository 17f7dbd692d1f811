//go:build device

package device

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

// moving is a queue pair that a test moves from state to state by C's own function,
// which the package's checks do not see.
type moving struct {
	t      *testing.T
	qp     *ibv.QP
	attr   ibv.QPAttr // what every attribute is set to: values that the device takes
	modify uintptr
}

func newMoving(r *rig, typ ibv.QPType) *moving {
	r.t.Helper()
	library, err := dl.Load()
	require.NoError(r.t, err)
	modify, err := library.Symbol("ibv_modify_qp")
	require.NoError(r.t, err)
	s := r.side(typ, 1, 1, nil)
	// Its own peer.
	way := ibv.AHAttr{IsGlobal: 1, PortNum: port, GRH: ibv.GlobalRoute{DGID: r.gid.GID, SGIDIndex: uint8(r.gid.GIDIndex), HopLimit: 64}}
	return &moving{t: r.t, qp: s.QP, modify: modify, attr: ibv.QPAttr{
		PathMTU: r.mtu, QKey: 0x1234, RQPSN: 1, SQPSN: 1, DestQPNum: s.QPNum, QPAccessFlags: access, Cap: s.cap,
		AHAttr: way, AltAHAttr: way, EnSQDAsyncNotify: 1, MaxRdAtomic: 1, MaxDestRdAtomic: 1, MinRNRTimer: 12,
		PortNum: port, AltPortNum: port, Timeout: 14, AltTimeout: 14, RetryCnt: 6, RNRRetry: 6,
	}}
}

// raw is what C makes of a mask.
func (m *moving) raw(attr ibv.QPAttr, mask ibv.QPAttrMask) syscall.Errno {
	result, _ := dl.Call(m.modify, uintptr(unsafe.Pointer(m.qp)), uintptr(unsafe.Pointer(&attr)), uintptr(mask))
	return syscall.Errno(int32(result))
}

// steps is what the manual page says is required on the way to INIT, RTR and RTS.
var steps = map[ibv.QPType][3]ibv.QPAttrMask{
	ibv.QPTRC: {
		ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskAccessFlags,
		ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN | ibv.QPAttrMaskMaxDestRdAtomic | ibv.QPAttrMaskMinRNRTimer,
		ibv.QPAttrMaskSQPSN | ibv.QPAttrMaskMaxQPRdAtomic | ibv.QPAttrMaskRetryCnt | ibv.QPAttrMaskRNRRetry | ibv.QPAttrMaskTimeout,
	},
	ibv.QPTUC: {
		ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskAccessFlags,
		ibv.QPAttrMaskAV | ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskDestQPN | ibv.QPAttrMaskRQPSN,
		ibv.QPAttrMaskSQPSN,
	},
	ibv.QPTUD: {ibv.QPAttrMaskPKeyIndex | ibv.QPAttrMaskPort | ibv.QPAttrMaskQKey, 0, ibv.QPAttrMaskSQPSN},
}

// to brings the queue pair from anywhere into a state.
func (m *moving) to(state ibv.QPState) {
	m.t.Helper()
	move := func(to ibv.QPState, mask ibv.QPAttrMask) {
		m.t.Helper()
		attr := m.attr
		attr.QPState = to
		require.Zero(m.t, m.raw(attr, mask|ibv.QPAttrMaskState), "%v to %v", m.qp, to)
	}
	m.drained()
	move(ibv.QPSReset, 0)
	last := state
	if state == ibv.QPSErr {
		last = ibv.QPSInit
	}
	for i, mask := range steps[m.qp.QPType] {
		if next := ibv.QPSInit + ibv.QPState(i); next <= last {
			move(next, mask)
		}
	}
	if state > ibv.QPSRTS {
		move(state, 0)
	}
	m.drained()
}

// drained waits until a queue pair in SQD can be moved on.
func (m *moving) drained() {
	m.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		attr, _, err := m.qp.Query(ibv.QPAttrMaskState)
		require.NoError(m.t, err)
		if attr.QPState != ibv.QPSSQD || attr.SQDraining == 0 {
			return
		}
		require.True(m.t, time.Now().Before(deadline), "%v still drains", m.qp)
	}
}

// states are those that a program can move a queue pair to.
var states = []ibv.QPState{ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS, ibv.QPSSQD, ibv.QPSErr}

// targets are where it may be tried to move one, with one that there is not; and
// stays, for a change of attributes alone.
var targets = []ibv.QPState{ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR, ibv.QPSRTS, ibv.QPSSQD, ibv.QPSSQE, ibv.QPSErr, ibv.QPSUnknown, stays}

const stays ibv.QPState = 1 << 16

// masks is what is tried on the way to a state: nothing, what is required, and that
// with each attribute left out and each added.
func masks(typ ibv.QPType, from, to ibv.QPState) []ibv.QPAttrMask {
	var base, state ibv.QPAttrMask
	if to == from+1 && to <= ibv.QPSRTS {
		base = steps[typ][from]
	}
	if to != stays {
		state = ibv.QPAttrMaskState
	}
	tried := []ibv.QPAttrMask{state, base | state}
	for bit := ibv.QPAttrMaskCurState; bit <= ibv.QPAttrMaskDestQPN; bit <<= 1 {
		tried = append(tried, base^bit|state)
	}
	slices.Sort(tried)
	return slices.Compact(tried)
}

// Whatever the kernel takes Modify takes, and what the kernel refuses it refuses
// and says why: for each type, each pair of states, and each attribute left out or
// added.
func TestTransitionsAreTheKernels(t *testing.T) {
	// What the kernel refuses although the table has nothing against it.
	others := map[string]string{
		"IBV_QPT_UC in IBV_QPS_SQD: IBV_QP_AV": "the kernel adds IBV_QP_PORT to it, which it does not take of UC",
	}
	seen := map[string]bool{}
	r := newRig(t)
	require.Regexp(t, `^librxe-rdmav\d+\.so`, filepath.Base(dl.FileOf(uintptr(r.ctx.Ops.PostSend))), "by which the driver is known")
	for typ := range steps {
		m := newMoving(r, typ)
		accepted, refused := 0, 0
		for _, from := range states {
			m.to(from)
			for _, to := range targets {
				for _, mask := range masks(typ, from, to) {
					attr := m.attr
					attr.QPState, attr.CurQPState = to, from
					what := fmt.Sprintf("%v in %v to %v: %v", typ, from, to, mask)
					kernel := m.raw(attr, mask)
					if kernel == 0 {
						m.to(from)
					}
					err := m.qp.Modify(&attr, mask)
					if kernel == 0 {
						require.NoError(t, err, what)
						accepted++
						m.to(from)
						continue
					}
					refused++
					require.ErrorIs(t, err, kernel, what)
					if tells(err) {
						continue
					}
					short := fmt.Sprintf("%v in %v: %v", typ, from, mask&^ibv.QPAttrMaskState)
					require.Contains(t, others, short, "%v is not explained: %v", what, err)
					seen[short] = true
				}
			}
		}
		t.Logf("%v: %d changes accepted, %d refused", typ, accepted, refused)
		require.Greater(t, accepted, 40)
		if linux(t, 6, 4) { // which takes all that changes no state
			require.Greater(t, refused, 400)
		} else {
			require.Greater(t, refused, 500)
		}
	}
	require.Len(t, seen, len(others), "some of these are no exceptions: %v", others)
}

// tells reports whether an error names what is wrong.
func tells(err error) bool {
	for _, text := range []string{" also needs ", " does not take ", " it can move to ", "RoCE has no alternate paths"} {
		if strings.Contains(err.Error(), text) {
			return true
		}
	}
	return false
}

// Soft-RoCE believes the caller about the state that the queue pair is in.
func TestTransitionsFromANamedState(t *testing.T) {
	r := newRig(t)
	for typ := range steps {
		m := newMoving(r, typ)
		for _, from := range states {
			for _, current := range append([]ibv.QPState{ibv.QPSSQE, ibv.QPSUnknown}, states...) {
				for _, to := range targets {
					mask := ibv.QPAttrMaskCurState
					if to != stays {
						mask |= ibv.QPAttrMaskState
					}
					attr := m.attr
					attr.QPState, attr.CurQPState = to, current
					m.to(from)
					kernel := m.raw(attr, mask)
					m.to(from)
					err := m.qp.Modify(&attr, mask)
					what := fmt.Sprintf("%v in %v, said to be in %v, to %v", typ, from, current, to)
					if kernel == 0 {
						require.NoError(t, err, what)
					} else {
						require.ErrorIs(t, err, kernel, what)
					}
				}
			}
		}
	}
}

// The same of many attributes at once, and whatever state is said to be the present.
func TestRandomTransitions(t *testing.T) {
	r := newRig(t)
	random := rand.New(rand.NewPCG(1, 2))
	for typ := range steps {
		m := newMoving(r, typ)
		accepted := 0
		for range 1000 {
			from, to := states[random.IntN(len(states))], targets[random.IntN(len(targets))]
			tried := masks(typ, from, to)
			mask := tried[random.IntN(len(tried))]
			for range random.IntN(4) {
				mask ^= 1 << random.IntN(21)
			}
			attr := m.attr
			attr.QPState, attr.CurQPState = to, targets[random.IntN(len(targets))]
			m.to(from)
			kernel := m.raw(attr, mask)
			m.to(from)
			err := m.qp.Modify(&attr, mask)
			what := fmt.Sprintf("%v in %v, said to be in %v, to %v: %v", typ, from, attr.CurQPState, to, mask)
			if kernel == 0 {
				require.NoError(t, err, what)
				accepted++
				continue
			}
			require.ErrorIs(t, err, kernel, what)
		}
		require.Greater(t, accepted, 10)
	}
}

// What the table does not know is the device's to refuse.
func TestModifyOfNewerAttributes(t *testing.T) {
	r := newRig(t)
	for typ := range steps {
		m := newMoving(r, typ)
		m.to(ibv.QPSRTS)
		for _, bit := range []ibv.QPAttrMask{ibv.QPAttrMaskRateLimit, 1 << 21, 1 << 30} {
			err := m.qp.Modify(&m.attr, bit)
			require.ErrorIs(t, err, errors.ErrUnsupported)
			require.ErrorIs(t, err, m.raw(m.attr, bit))
		}
	}
}

// Values are the device's to refuse too: Soft-RoCE takes some that have more bits
// than the packets.
func TestModifyOfValues(t *testing.T) {
	r := newRig(t)
	for _, tt := range []struct {
		state  ibv.QPState
		change func(*ibv.QPAttr)
		errno  syscall.Errno
		text   string
	}{
		{ibv.QPSRTR, func(a *ibv.QPAttr) { a.MinRNRTimer = 32 }, 0, ""},
		{ibv.QPSRTR, func(a *ibv.QPAttr) { a.RQPSN = 1 << 24 }, 0, ""},
		{ibv.QPSRTS, func(a *ibv.QPAttr) { a.RetryCnt = 8 }, 0, ""},
		{ibv.QPSRTS, func(a *ibv.QPAttr) { a.Timeout = 32 }, syscall.EINVAL, "Timeout is 32: it has 5 bits"},
		{ibv.QPSRTS, func(a *ibv.QPAttr) { a.MaxRdAtomic = 255 }, syscall.EINVAL, "MaxRdAtomic is 255: the device can do 128"},
		{ibv.QPSRTR, func(a *ibv.QPAttr) { a.PathMTU = ibv.MTU4096 + 1 }, syscall.EINVAL, "PathMTU is 6, which is none of the values of MTU"},
		{ibv.QPSRTR, func(a *ibv.QPAttr) { a.AHAttr.PortNum = 2 }, syscall.EINVAL, "AHAttr has port 2, and the queue pair port 1"},
	} {
		m := newMoving(r, ibv.QPTRC)
		attr := m.attr
		tt.change(&attr)
		attr.QPState = tt.state
		mask := steps[ibv.QPTRC][tt.state-ibv.QPSInit] | ibv.QPAttrMaskState
		m.to(tt.state - 1)
		require.Equal(t, tt.errno, m.raw(attr, mask))
		m.to(tt.state - 1)
		err := m.qp.Modify(&attr, mask)
		if tt.errno == 0 {
			require.NoError(t, err)
			continue
		}
		require.ErrorIs(t, err, tt.errno)
		require.ErrorContains(t, err, tt.text)
	}
}
