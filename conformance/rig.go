package conformance

import (
	"bytes"
	"runtime"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// open opens the device for the scenario.
func (t *T) open() {
	dev, err := rdma.Open(t.name, rdma.DeviceOptions{})
	require.NoError(t, err)
	t.dev = dev
	t.Cleanup(func() { require.NoError(t, dev.CloseAll()) })
	t.provider = providerOf(dev)
}

// Provider is what is behind the device.
func (t *T) Provider() Provider { return t.provider }

// Device is the device, which is the scenario's own.
func (t *T) Device() *rdma.Device { return t.dev }

// Attr is the device's attributes.
func (t *T) Attr() ibv.DeviceAttr {
	attr, err := t.dev.Query()
	require.NoError(t, err)
	return attr
}

// PD is a protection domain, always the same one.
func (t *T) PD() *rdma.PD {
	if t.pd == nil {
		var err error
		t.pd, err = t.dev.AllocPD()
		require.NoError(t, err)
	}
	return t.pd
}

// GID is where the device sends from.
func (t *T) GID() ibv.GIDEntry {
	t.findPort()
	return t.gid
}

// Port is the port of GID.
func (t *T) Port() ibv.PortAttr {
	t.findPort()
	return t.port
}

// findPort asks once: it takes its time.
func (t *T) findPort() {
	if t.gid.PortNum != 0 {
		return
	}
	gid, err := t.dev.ChooseGID(rdma.GIDChoice{})
	require.NoError(t, err)
	port, err := t.dev.Port(gid.PortNum)
	require.NoError(t, err)
	t.gid, t.port = gid, port
}

// CQ is a completion queue.
func (t *T) CQ(entries int, opts rdma.CQOptions) *rdma.CQ {
	cq, err := t.dev.CreateCQ(entries, opts)
	require.NoError(t, err)
	return cq
}

// All is every kind of access that the device has.
func (t *T) All() ibv.AccessFlags {
	all := ibv.AccessLocalWrite | ibv.AccessRemoteWrite | ibv.AccessRemoteRead
	if t.Attr().AtomicCap != ibv.AtomicNone {
		all |= ibv.AccessRemoteAtomic
	}
	return all
}

// Region is zeroed memory in PD. access 0 is All.
func (t *T) Region(size int, access ibv.AccessFlags) *rdma.Region {
	if access == 0 {
		access = t.All()
	}
	region, err := t.PD().AllocRegion(size, rdma.RegionOptions{Access: access})
	require.NoError(t, err)
	return region
}

// Recvs makes n receives with room for so many entries.
func (t *T) Recvs(n, maxSGE int) *ibv.RecvChain {
	chain, err := ibv.NewRecvChain(n, maxSGE)
	require.NoError(t, err)
	return chain
}

// Sends makes n signalled sends with room for so many entries.
func (t *T) Sends(n, maxSGE int) *ibv.SendChain {
	chain, err := ibv.NewSendChain(n, maxSGE)
	require.NoError(t, err)
	return chain
}

// Poll takes exactly n completions off the queue, whatever their status.
func (t *T) Poll(cq *rdma.CQ, n int) []ibv.WC {
	wcs := make([]ibv.WC, n)
	got := 0
	defer func() {
		for i := range wcs[:got] {
			if got < n {
				t.Logf("there was: %v", wcs[i])
			}
		}
	}()
	t.Until(func() bool {
		k, err := cq.Poll(wcs[got:])
		require.NoError(t, err)
		got += k
		return got == n
	}, "%d completions", n)
	return wcs
}

// Done is Poll for completions that all are successes.
func (t *T) Done(cq *rdma.CQ, n int) []ibv.WC {
	wcs := t.Poll(cq, n)
	for i := range wcs {
		require.NoError(t, wcs[i].Err())
	}
	return wcs
}

// Quiet requires that the queue is empty. Whatever might come must have had its time:
// something that comes later was waited for before.
func (t *T) Quiet(cq *rdma.CQ) {
	var wcs [4]ibv.WC
	for range 20 {
		n, err := cq.Poll(wcs[:])
		require.NoError(t, err)
		require.Empty(t, wcs[:n], "completions that nobody expects")
	}
}

// Same requires that bytes are as they should be, and says where they are not.
func (t *T) Same(want, got []byte, what ...any) {
	if bytes.Equal(want, got) {
		return
	}
	n := min(len(want), len(got))
	at := 0
	for at < n && want[at] == got[at] {
		at++
	}
	// What follows is what a reader needs.
	require.Equal(t, want[at:min(at+16, len(want))], got[at:min(at+16, len(got))],
		append([]any{"from byte %d on, of %d and %d. " + strings.Repeat("%v ", len(what)), at, len(want), len(got)}, what...)...)
}

// Until asks until it is so, or the scenario has taken too long.
func (t *T) Until(so func() bool, what string, args ...any) {
	for tries := 0; !so(); tries++ {
		if t.ctx.Err() != nil {
			t.Errorf("waited too long for "+what, args...)
			t.FailNow()
		}
		if tries < 1000 {
			runtime.Gosched()
		} else {
			time.Sleep(50 * time.Microsecond)
		}
	}
}
