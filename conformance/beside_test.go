//go:build !freebsd

package conformance

import (
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// A device goes on as ever beside one in the process: both are there, are used at once and are waited for at once, and what
// becomes of the one is nothing to the other.
func TestDeviceBeside(t *testing.T) {
	for _, name := range strings.Split(*devices, ",") {
		t.Run(name, func(t *testing.T) {
			if name == inProcess {
				name = newDevice(t)
			}
			for what, use := range map[string]func(d, beside *line, unplug func()){
				"listed": bothListed, "awaited": bothAwaited, "relayed": relayed, "mixed": mixed, "unplugged": unplugged,
			} {
				t.Run(what, func(t *testing.T) {
					f := ibvtest.New(t)
					passes(t, name, func(d *T) {
						passes(d, f.Names()[0], func(beside *T) { use(newLine(d), newLine(beside), f.Device(0).Unplug) })
					})
				})
			}
			t.Run("at once", func(t *testing.T) { scenariosAtOnce(t, name, newDevice(t)) })
		})
	}
}

// passes has something done on a device, as scenarios are.
func passes(t require.TestingT, device string, do func(t *T)) {
	result := Scenario{Group: "beside", Name: device, Run: do}.run(device, Options{Patience: *patience})
	require.Equal(t, Passed, result.Status, result.Reason)
}

// line is a sender, and a receiver that parks.
type line struct {
	t        *T
	from, to *End
}

const lineBuffers, lineSize = 8, 64

func newLine(t *T) *line {
	l := &line{t: t}
	l.from, l.to = pairOf(t, rdma.QPOptions{SendCQ: t.CQ(64, rdma.CQOptions{})}, rdma.QPOptions{RecvCQ: t.CQ(64, rdma.CQOptions{})})
	l.to.Buffers(lineBuffers, lineSize)
	return l
}

// send sends a message.
func (l *line) send(message []byte) {
	copy(l.from.Slot(0, lineSize), message)
	l.from.Send(1, ibv.WRSend, ibv.SendSignaled, l.from.Memory.SGE(0, len(message)))
	var wcs [1]ibv.WC
	_, err := l.from.SendCQ.Wait(l.t.Context(), wcs[:])
	require.NoError(l.t, err)
	require.NoError(l.t, wcs[0].Err())
}

// await waits for the next message, in buffer number i.
func (l *line) await(i int) []byte {
	var wcs [1]ibv.WC
	_, err := l.to.RecvCQ.Wait(l.t.Context(), wcs[:])
	require.NoError(l.t, err)
	require.NoError(l.t, wcs[0].Err())
	require.EqualValues(l.t, i, wcs[0].WRID)
	return l.to.Slot(i, lineSize)[:wcs[0].ByteLen]
}

func bothListed(d, beside *line, _ func()) {
	infos, err := rdma.Devices()
	require.NoError(beside.t, err)
	var names []string
	for _, info := range infos {
		names = append(names, info.Name)
	}
	require.Subset(beside.t, names, []string{d.t.name, beside.t.name})
}

// Each wakes who waits for it, and nobody else.
func bothAwaited(d, beside *line, _ func()) {
	for _, order := range [][2]*line{{d, beside}, {beside, d}} {
		first := waiting(beside.t, beside.t.Context(), order[0].to.RecvCQ)
		second := waiting(beside.t, beside.t.Context(), order[1].to.RecvCQ)
		order[0].send([]byte("one"))
		require.NoError(beside.t, ended(beside.t, first))
		select {
		case err := <-second:
			require.Fail(beside.t, "a completion of the other device ended the wait", "%v", err)
		default:
		}
		order[1].send([]byte("other"))
		require.NoError(beside.t, ended(beside.t, second))
	}
}

// Messages go from the one device on to the other.
func relayed(d, beside *line, _ func()) {
	for round := range 10 {
		for i := range lineBuffers {
			message := make([]byte, lineSize-i)
			Fill(message, round*lineBuffers+i)
			d.send(message)
			beside.send(d.await(i))
			beside.t.Same(message, beside.await(i))
		}
		d.to.Buffers(lineBuffers, lineSize)
		beside.to.Buffers(lineBuffers, lineSize)
	}
}

// What is of the one device is nothing that the other one takes.
func mixed(d, beside *line, _ func()) {
	_, err := beside.t.PD().CreateQP(rdma.QPOptions{SendCQ: d.from.SendCQ, RecvCQ: beside.to.RecvCQ})
	require.ErrorContains(beside.t, err, d.t.name)
	_, err = beside.t.PD().Raw().CreateQP(&ibv.QPInitAttr{SendCQ: d.from.SendCQ.Raw(), RecvCQ: d.from.SendCQ.Raw(), QPType: ibv.QPTRC, Cap: caps(1, 1)})
	require.ErrorIs(beside.t, err, syscall.EINVAL)
	sends := beside.t.Sends(1, 1)
	require.NoError(beside.t, sends.Set(0, 9, ibv.WRSend, ibv.SendSignaled, ibv.SGE{Addr: d.from.Memory.SGE(0, 8).Addr, Length: 8, LKey: ^uint32(0)}))
	beside.from.Post(sends)
	require.Error(beside.t, beside.t.Poll(beside.from.SendCQ, 1)[0].Err())
	d.send([]byte("none the worse"))
}

func unplugged(d, beside *line, unplug func()) {
	wait := waiting(beside.t, beside.t.Context(), d.to.RecvCQ)
	unplug()
	for _, wc := range beside.t.Poll(beside.to.RecvCQ, lineBuffers) {
		require.Equal(beside.t, ibv.WCWRFlushErr, wc.Status)
	}
	require.ErrorIs(beside.t, beside.to.ToReset(), syscall.EIO)
	d.send([]byte("still there"))
	require.NoError(beside.t, ended(beside.t, wait))
	_, err := rdma.Open(beside.t.name, rdma.DeviceOptions{})
	require.Error(beside.t, err)
}

// What parks, and what makes many calls, is done on both at the same time.
func scenariosAtOnce(t *testing.T, names ...string) {
	groups := []string{"messages", "notify", "wait", "rings", "events", "extended cq", "srq"}
	results := make(chan []Result, len(names))
	for _, name := range names {
		go func() {
			var of []Result
			for _, s := range Scenarios() {
				if slices.Contains(groups, s.Group) {
					of = append(of, s.run(name, Options{Patience: *patience}))
				}
			}
			results <- of
		}()
	}
	for range names {
		of := <-results
		passed := 0
		for _, r := range of {
			require.NotEqual(t, Failed, r.Status, "%v: %s", r.Scenario, r.Reason)
			if r.Status == Passed {
				passed++
			}
		}
		require.Greater(t, passed, len(groups))
	}
}
