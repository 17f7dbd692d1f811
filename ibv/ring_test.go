package ibv_test

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// ringProvider is a provider for rings: its queue pair is ready and has room for
// everything, and libibverbs knows the verbs that making a ring takes. It returns
// nil in the process where nothing is left to do: see inOldLibrary.
func ringProvider(t *testing.T) *provider {
	t.Helper()
	library := inOldLibrary(t)
	if library == nil {
		return nil
	}
	p := providerOf(t, library, wholeContext)
	p.state(ibv.QPSRTS)
	p.resize(sizes{1000, 1000, 1000, 1000, false})
	p.entries(8, 8, 8)
	p.play(script{room: all})
	return p
}

// sizes are what the provider's queues have room for.
type sizes struct {
	cqe            int
	send, recv     uint32
	shared         uint32 // the shared receive queue
	signalAllSends bool
}

func (p *provider) resize(s sizes) {
	p.t.Helper()
	all := uintptr(0)
	if s.signalAllSends {
		all = 1
	}
	p.call("provider_sizes", uintptr(s.cqe), uintptr(s.send), uintptr(s.recv), uintptr(s.shared), all)
}

// entries is how many scatter/gather entries work requests of the provider's
// queues have room for.
func (p *provider) entries(send, recv, shared uint32) {
	p.t.Helper()
	p.call("provider_entries", uintptr(send), uintptr(recv), uintptr(shared))
}

// state moves the provider's queue pairs to a state.
func (p *provider) state(state ibv.QPState) {
	p.t.Helper()
	p.call("provider_state", uintptr(state))
}

// verb is one that the old library has: enum verb.
type verb uintptr

const (
	none verb = iota
	queryQP
	querySRQ
	regMR
	deregMR
)

func (p *provider) refuse(v verb, errno syscall.Errno) {
	p.t.Helper()
	p.call("provider_refuse", uintptr(v), uintptr(errno))
}

// complete makes completions that polls will find, in that order.
func (p *provider) complete(wcs ...ibv.WC) {
	p.t.Helper()
	for _, wc := range wcs {
		p.call("provider_complete", uintptr(wc.WRID), uintptr(wc.Status), uintptr(wc.Opcode), uintptr(wc.ByteLen), uintptr(wc.QPNum))
	}
}

// took is what the provider accepted of the last post since it was told what to
// do.
func (p *provider) took() []sawWR {
	p.t.Helper()
	var wrs []sawWR
	for i := range p.saw(accepted) {
		wrs = append(wrs, p.sawWR(i))
	}
	return wrs
}

// during follows the script while f runs, and returns what was accepted of the
// post in it.
func (p *provider) during(s script, f func()) []sawWR {
	p.t.Helper()
	p.play(s)
	f()
	return p.took()
}

// full takes so many work requests and refuses the next one. Polls work, as they
// would not with a result other than 0.
func full(room int) script { return script{room: room, bad: element, badIndex: room} }

// silent takes so many work requests and refuses the next one without telling
// which it was. Polls fail with the same result.
func silent(room int) script { return script{room: room, result: -int32(syscall.EINVAL), bad: null} }

// ids are the numbers of work requests.
func ids(wrs []sawWR) []uint64 {
	list := make([]uint64, len(wrs))
	for i, wr := range wrs {
		list[i] = wr.wrID
	}
	return list
}

// mapped reports whether there is memory at an address.
func (p *provider) mapped(address uint64) bool {
	p.t.Helper()
	return int32(p.call("provider_mapped", uintptr(address))) == 1
}

// requireForeign requires that an error has these completions, all that they say.
func requireForeign(t *testing.T, err error, op string, want ...ibv.WC) {
	t.Helper()
	var foreign *ibv.ForeignError
	require.ErrorAs(t, err, &foreign)
	require.Equal(t, op, foreign.Op)
	for i := range want {
		want[i].VendorErr = 0x17 // the provider's
	}
	require.Equal(t, want, foreign.WCs)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, fmt.Sprintf("ibv: %s: a completion is not the ring's, whose completion queue must be its own: WRID %#x, queue pair %#x, status %v; %d such in all",
		op, want[0].WRID, want[0].QPNum, want[0].Status, len(want)))
}

// requireRefused requires an error with an errno that says something.
func requireRefused(t *testing.T, err error, errno syscall.Errno, says string) {
	t.Helper()
	require.ErrorIs(t, err, errno)
	require.ErrorContains(t, err, says)
}
