package ibv_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/postforms"
)

// What is done again and again costs no memory, however it ends.
func TestNoAllocations(t *testing.T) {
	p := newProvider(t, wholeContext)
	if !ccall.Direct() {
		t.Skip("without the direct call, a call costs memory: GOVERBS_CCALL=portable, or no assembly for this processor")
	}
	for _, o := range []outcome{
		{"success", script{Room: all}, listLength, 0, false},
		{"full", script{Room: 2, Result: int32(syscall.ENOMEM), Bad: element, BadIndex: 2}, 2, syscall.ENOMEM, false},
		{"full, negative", script{Result: -int32(syscall.ENOMEM), Bad: element}, 0, syscall.ENOMEM, false},
		{"full, -1", script{Result: -1, Errno: syscall.ENOMEM, Bad: element}, 0, syscall.ENOMEM, false},
		{"unexplained", script{Bad: element}, 0, syscall.ENOMEM, true},
		{"unknown", script{Result: int32(syscall.EINVAL)}, unknown, syscall.EINVAL, false},
		{"unknown, outside", script{Result: int32(syscall.EIO), Bad: outside}, unknown, syscall.EIO, false},
		{"success, outside", script{Room: all, Bad: outside}, listLength, 0, false},
	} {
		for _, f := range postforms.Forms {
			t.Run(f.Name+"/"+o.name, func(t *testing.T) {
				p := *p
				p.T = t
				list := f.List(t, queuesOf(&p), listLength)
				p.Play(o.script)
				var accepted int
				var err error
				require.Zero(t, testing.AllocsPerRun(100, func() { accepted, err = list.Post() }))
				require.Equal(t, o.accepted, accepted)
				requirePostError(t, err, f.Op, o)
			})
		}
	}
}

func TestNoAllocationsForSetting(t *testing.T) {
	recv, send := recvChain(t, 3, 0), sendChain(t, 3, 0)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		_ = recv.Set(1, 2, ibv.SGE{Addr: 1}, ibv.SGE{Addr: 2})
		_ = send.Set(1, 2, ibv.WRSend, 0, ibv.SGE{Addr: 1})
	}))
	require.EqualValues(t, 2, recv.WR(1).NumSGE)
}

func TestNoAllocationsForPolling(t *testing.T) {
	p := newProvider(t, wholeContext)
	if !ccall.Direct() {
		t.Skip("without the direct call, a call costs memory: GOVERBS_CCALL=portable, or no assembly for this processor")
	}
	wcs, poller := make([]ibv.WC, 4), p.CQ.Poller()
	for _, completions := range []int{0, 3} {
		p.Play(script{Completions: completions})
		for _, poll := range []func([]ibv.WC) (int, error){p.CQ.Poll, poller.Poll} {
			var n int
			require.Zero(t, testing.AllocsPerRun(100, func() { n, _ = poll(wcs) }))
			require.Equal(t, completions, n)
		}
	}
}

// Completions may lie on the caller's stack.
func TestNoAllocationsForPollingOntoTheStack(t *testing.T) {
	p := newProvider(t, wholeContext)
	poller := p.CQ.Poller()
	p.Play(script{Completions: 3})
	check := func(wcs *[4]ibv.WC, n int, err error) {
		if err != nil || n != 3 || wcs[2].WRID != 0x1122334455667702 || wcs[3] != (ibv.WC{}) {
			panic("not what C wrote")
		}
	}
	for _, poll := range []func(){
		func() {
			var wcs [4]ibv.WC
			n, err := p.CQ.Poll(wcs[:])
			check(&wcs, n, err)
		},
		func() {
			var wcs [4]ibv.WC
			n, err := poller.Poll(wcs[:])
			check(&wcs, n, err)
		},
	} {
		perPoll := testing.AllocsPerRun(100, poll)
		if ccall.Direct() {
			require.Zero(t, perPoll)
		} else {
			require.LessOrEqual(t, perPoll, 2.0, "the portable way itself, and nothing for the completions")
		}
	}
}
