package ibv_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// freed is addresses in the Go heap where nothing is any more.
//
//go:noinline
func freed() (addresses []uint64) {
	const n, size, inside = 500, 64 << 10, 4096
	var kept [][]byte
	for range n {
		b := make([]byte, size)
		addresses = append(addresses, uint64(uintptr(unsafe.Pointer(&b[inside]))))
		kept = append(kept, b)
	}
	runtime.KeepAlive(kept)
	return addresses
}

// Each store is a function of its own, or the compiler would leave out the first.

//go:noinline
func setRemote(wr *ibv.SendWR, address uint64) { wr.WR.RDMA().RemoteAddr = address }

//go:noinline
func setAH(wr *ibv.SendWR, ah *ibv.AH) { wr.WR.UD().AH.Set(ah) }

// A union's members lie on top of each other, and the peer chooses what one of
// them holds: the collector must not take it for a pointer when an address handle
// is stored over it.
func TestUnionMembersAreNumbers(t *testing.T) {
	chain, err := ibv.NewSendChain(64, 1)
	require.NoError(t, err)
	// The more there is to mark, the longer do stores tell the collector.
	type node struct{ next *node }
	var list *node
	for range 200_000 {
		list = &node{list}
	}
	addresses := freed()
	runtime.GC()
	debug.FreeOSMemory()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 10 {
			runtime.GC()
		}
	}()
	ah := new(ibv.AH)
	for n := 0; ; n++ {
		for i := range chain.Len() {
			wr := chain.WR(i)
			setRemote(wr, addresses[n%len(addresses)])
			setAH(wr, ah)
			if wr.WR.UD().AH.Get() != ah {
				t.Fatal("another address handle is there than was stored")
			}
		}
		select {
		case <-done:
			runtime.KeepAlive(list)
			return
		default:
		}
	}
}
