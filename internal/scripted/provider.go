// Package scripted has a provider in C, without a device, for tests: its objects are laid out by the C compiler, it does
// what it is told to, and it writes down what it saw, so that only C knows the layouts.
package scripted

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

// Provider is a provider of testdata/provider.c.
type Provider struct {
	Object

	Context   *ibv.Context
	QP, SRQQP *ibv.QP // SRQQP has SRQ for its receive queue
	SRQ       *ibv.SRQ
	CQ        *ibv.CQ // of their receives
	SendCQ    *ibv.CQ
}

// Sizes for New.
const (
	WholeContext = 0
	PlainContext = -1 // not within a verbs_context at all
)

// New makes a provider whose verbs_context has so many bytes. It stays for as long as the process.
func New(t testing.TB, library *dl.Library, size int) *Provider {
	t.Helper()
	p := &Provider{Object: Object{T: t, Library: library}}
	p.C, _ = dl.Call(p.Symbol("provider_new"), uintptr(size))
	require.NotZero(t, p.C)
	p.Context = Part[ibv.Context](&p.Object, "provider_context")
	p.QP = Part[ibv.QP](&p.Object, "provider_qp")
	p.SRQQP = Part[ibv.QP](&p.Object, "provider_srq_qp")
	p.SRQ = Part[ibv.SRQ](&p.Object, "provider_srq")
	p.CQ = Part[ibv.CQ](&p.Object, "provider_cq")
	p.SendCQ = Part[ibv.CQ](&p.Object, "provider_send_cq")
	return p
}

// BadWR is what a post leaves in bad_wr: enum bad.
type BadWR uintptr

// The numbers of enum bad.
const (
	Untouched BadWR = iota
	Null
	Element // work request Script.BadIndex of the list
	Inside  // an address within that work request
	Outside // a work request of the provider's
	Stale   // the list that was posted before
)

// All is room for all work requests there are.
const All = -1

// Script is what a provider is to do.
type Script struct {
	Room        int // how many work requests it takes; negative: all
	Result      int32
	Errno       syscall.Errno // what it leaves in errno, whatever the result
	Bad         BadWR
	BadIndex    int
	Completions int // in the completion queue
}

// Play tells it what to do, and has it forget what it saw.
func (p *Provider) Play(s Script) {
	p.T.Helper()
	p.Call("provider_script", uintptr(s.Room), uintptr(s.Result), uintptr(s.Errno), uintptr(s.Bad), uintptr(s.BadIndex), uintptr(s.Completions))
}

// What is something that a provider wrote down: provider_saw's numbers.
type What uintptr

// The numbers of provider_saw.
const (
	Calls What = iota
	Accepted
	TheObject
	BadBefore // what was in bad_wr before the call
	Polled
	TheList
	Port
	AttrLength
	Regions   // memory regions that are there
	TheAccess // that the last of them was made with
)

// Saw is what it wrote down.
func (p *Provider) Saw(what What) int {
	p.T.Helper()
	return int(p.Call("provider_saw", uintptr(what)))
}

// WR is a work request as C reads it: struct seen.
type WR struct {
	Address, Next, SGList        uint64
	WRID, NumSGE                 uint64
	Opcode, SendFlags, Imm       uint64
	RemoteAddr, RKey             uint64
	CompareAdd, Swap, AtomicRKey uint64
	AH, RemoteQPN, RemoteQKey    uint64
	SGEs                         [][3]uint64 // addr, length, lkey
}

// SawWR is what the provider saw of work request i of the last post.
func (p *Provider) SawWR(i int) WR {
	p.T.Helper()
	words := new([16 + 8*3]uint64)
	// Safe: C fills the words during the call, and has no more of them than there are.
	result := p.Call("provider_saw_wr", uintptr(i), uintptr(unsafe.Pointer(words)))
	n := int(int32(result))
	w := WR{
		words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7],
		words[8], words[9], words[10], words[11], words[12], words[13], words[14], words[15], nil,
	}
	for at := 16; at < n; at += 3 {
		w.SGEs = append(w.SGEs, [3]uint64(words[at:at+3]))
	}
	return w
}
