package rdma_test

import (
	"fmt"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/scripted"
	"github.com/goverbs/goverbs/rdma"
)

// provider is a scripted provider with handles of its objects.
type provider struct {
	*scripted.Provider

	dev        *rdma.Device
	pd         *rdma.PD
	qp, srqQP  *rdma.QP
	srq        *rdma.SRQ
	cq, sendCQ *rdma.CQ
}

// Short names for what package scripted has.

type (
	script = scripted.Script
	sawWR  = scripted.WR
)

const (
	all     = scripted.All
	null    = scripted.Null
	element = scripted.Element

	calls     = scripted.Calls
	accepted  = scripted.Accepted
	theObject = scripted.TheObject
	theList   = scripted.TheList
	regions   = scripted.Regions
	theAccess = scripted.TheAccess
)

// ringProvider is a provider for rings: its queue pair is ready and has room for
// everything, and libibverbs knows the verbs that making a ring takes. It returns
// nil in the process where nothing is left to do: see [scripted.InOldLibrary].
func ringProvider(t *testing.T) *provider {
	t.Helper()
	library := scripted.InOldLibrary(t, scratch, "GOVERBS_CHECK=0") // checked mode posts one at a time
	if library == nil {
		return nil
	}
	p := &provider{Provider: scripted.New(t, library, scripted.WholeContext)}
	p.state(ibv.QPSRTS)
	p.Call("provider_type", uintptr(ibv.QPTRC))
	p.Call("provider_entries", 8, 8, 8)
	p.resize(sizes{1000, 1000, 1000, 1000, false})
	p.Play(script{Room: all})
	return p
}

// adopt makes handles of the provider's objects, as they are now.
func (p *provider) adopt() {
	p.T.Helper()
	var err error
	p.dev, err = rdma.AdoptDevice(p.Context, rdma.DeviceOptions{})
	require.NoError(p.T, err)
	p.pd, err = p.dev.AdoptPD(p.QP.PD)
	require.NoError(p.T, err)
	p.cq, err = p.dev.AdoptCQ(p.CQ, rdma.CQOptions{})
	require.NoError(p.T, err)
	p.sendCQ = p.cq
	if p.QP.SendCQ != p.CQ {
		p.sendCQ, err = p.dev.AdoptCQ(p.SendCQ, rdma.CQOptions{})
		require.NoError(p.T, err)
	}
	p.srq, err = p.pd.AdoptSRQ(p.SRQ)
	require.NoError(p.T, err)
	p.qp, err = p.pd.AdoptQP(p.QP, rdma.QPOptions{SendCQ: p.sendCQ, RecvCQ: p.cq})
	require.NoError(p.T, err)
	p.srqQP, err = p.pd.AdoptQP(p.SRQQP, rdma.QPOptions{SendCQ: p.sendCQ, RecvCQ: p.cq, SRQ: p.srq})
	require.NoError(p.T, err)
}

// close closes a ring with its queue, and makes handles of that again.
func (p *provider) close(ring *rdma.RecvRing) {
	p.T.Helper()
	require.NoError(p.T, ring.CloseAll())
	p.adopt()
}

// sizes are what the provider's queues have room for.
type sizes struct {
	cqe            int
	send, recv     uint32
	shared         uint32 // the shared receive queue
	signalAllSends bool
}

// resize has the queues be of other sizes, and makes handles of them.
func (p *provider) resize(s sizes) {
	p.T.Helper()
	all := uintptr(0)
	if s.signalAllSends {
		all = 1
	}
	p.Call("provider_sizes", uintptr(s.cqe), uintptr(s.send), uintptr(s.recv), uintptr(s.shared), all)
	p.adopt()
}

// entries is how many scatter/gather entries work requests of the provider's
// queues have room for. It makes handles of them.
func (p *provider) entries(send, recv, shared uint32) {
	p.T.Helper()
	p.Call("provider_entries", uintptr(send), uintptr(recv), uintptr(shared))
	p.adopt()
}

// state moves the provider's queue pairs to a state.
func (p *provider) state(state ibv.QPState) {
	p.T.Helper()
	p.Call("provider_state", uintptr(state))
}

// verb is one that the old library has: enum verb.
type verb uintptr

const (
	none verb = iota
	_         // queryQP
	querySRQ
	regMR
	deregMR
)

func (p *provider) refuse(v verb, errno syscall.Errno) {
	p.T.Helper()
	p.Call("provider_refuse", uintptr(v), uintptr(errno))
}

// complete makes completions that polls will find, in that order.
func (p *provider) complete(wcs ...ibv.WC) {
	p.T.Helper()
	for _, wc := range wcs {
		p.Call("provider_complete", uintptr(wc.WRID), uintptr(wc.Status), uintptr(wc.Opcode), uintptr(wc.ByteLen), uintptr(wc.QPNum))
	}
}

// took is what the provider accepted of the last post since it was told what to
// do.
func (p *provider) took() []sawWR {
	p.T.Helper()
	var wrs []sawWR
	for i := range p.Saw(accepted) {
		wrs = append(wrs, p.SawWR(i))
	}
	return wrs
}

// during follows the script while f runs, and returns what was accepted of the
// post in it.
func (p *provider) during(s script, f func()) []sawWR {
	p.T.Helper()
	p.Play(s)
	f()
	return p.took()
}

// full takes so many work requests and refuses the next one. Polls work, as they
// would not with a result other than 0.
func full(room int) script { return script{Room: room, Bad: element, BadIndex: room} }

// silent takes so many work requests and refuses the next one without telling
// which it was. Polls fail with the same result.
func silent(room int) script { return script{Room: room, Result: -int32(syscall.EINVAL), Bad: null} }

// ids are the numbers of work requests.
func ids(wrs []sawWR) []uint64 {
	list := make([]uint64, len(wrs))
	for i, wr := range wrs {
		list[i] = wr.WRID
	}
	return list
}

// addressOf is the address of something that is in C or on the heap.
func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }

// holds reports whether there is memory at an address that begins with a byte. The
// system may have given freed memory to something else, which begins with another.
func (p *provider) holds(address uint64, content byte) bool {
	p.T.Helper()
	return int32(p.Call("provider_holds", uintptr(address), uintptr(content))) == 1
}

func sge(i, j int) ibv.SGE {
	return ibv.SGE{Addr: 0x1111_2222_0000_0000 + uint64(i)<<8 + uint64(j), Length: uint32(i)<<16 | uint32(j) | 1<<31, LKey: ^uint32(i<<4 | j)}
}

// requireForeign requires that an error has these completions, all that they say.
func requireForeign(t *testing.T, err error, op string, want ...ibv.WC) {
	t.Helper()
	var foreign *rdma.ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, op, foreign.Op)
	for i := range want {
		want[i].VendorErr = 0x17 // the provider's
	}
	require.Equal(t, want, foreign.WCs)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, fmt.Sprintf("rdma: %s: a completion is not the ring's, whose completion queue must be its own: WRID %#x, queue pair %#x, status %v; %d such in all",
		op, want[0].WRID, want[0].QPNum, want[0].Status, len(want)))
}

// requireRefused requires an error with an errno that says something.
func requireRefused(t *testing.T, err error, errno syscall.Errno, says string) {
	t.Helper()
	require.ErrorIs(t, err, errno)
	require.ErrorContains(t, err, says)
}
