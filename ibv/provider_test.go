package ibv_test

import (
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
)

// provider is a provider of testdata/provider.c: what it is told to do and what
// it saw go through its C functions, so that only C knows the layouts.
type provider struct {
	scripted

	context   *ibv.Context
	qp, srqQP *ibv.QP // srqQP has srq for its receive queue
	srq       *ibv.SRQ
	cq        *ibv.CQ // of their receives
	sendCQ    *ibv.CQ
}

var loaded struct {
	sync.Mutex
	library *dl.Library
}

// Sizes for newProvider.
const (
	wholeContext = 0
	plainContext = -1 // not within a verbs_context at all
)

// newProvider makes a provider whose verbs_context has so many bytes. It stays
// for as long as the process.
func newProvider(t testing.TB, size int) *provider {
	t.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.library == nil {
		library, err := dl.Open(compiled(t, "provider.so"))
		require.NoError(t, err)
		loaded.library = library
	}
	return providerOf(t, loaded.library, size)
}

func providerOf(t testing.TB, library *dl.Library, size int) *provider {
	t.Helper()
	p := &provider{scripted: scripted{t: t, library: library}}
	p.c, _ = dl.Call(p.symbol("provider_new"), uintptr(size))
	require.NotZero(t, p.c)
	p.context = object[ibv.Context](p, "provider_context")
	p.qp = object[ibv.QP](p, "provider_qp")
	p.srqQP = object[ibv.QP](p, "provider_srq_qp")
	p.srq = object[ibv.SRQ](p, "provider_srq")
	p.cq = object[ibv.CQ](p, "provider_cq")
	p.sendCQ = object[ibv.CQ](p, "provider_send_cq")
	return p
}

// scripted is a provider in C, of a library of its own.
type scripted struct {
	t       testing.TB
	library *dl.Library
	c       uintptr
}

func (s *scripted) symbol(name string) uintptr {
	s.t.Helper()
	address, err := s.library.Symbol(name)
	require.NoError(s.t, err)
	return address
}

// call calls a function that takes the provider first.
//
//go:uintptrescapes
func (s *scripted) call(name string, args ...uintptr) uintptr {
	s.t.Helper()
	result, _ := dl.Call(s.symbol(name), append([]uintptr{s.c}, args...)...)
	return result
}

// object is an object of the provider's, as C lays it out.
func object[T any](p *provider, name string) *T {
	return clib.At[T](p.call(name)) // which is never freed
}

// badWR is what a post leaves in bad_wr: enum bad.
type badWR uintptr

const (
	untouched badWR = iota
	null
	element // work request script.badIndex of the list
	inside  // an address within that work request
	outside // a work request of the provider's
	stale   // the list that was posted before
)

// script is what a provider is to do.
type script struct {
	room        int // how many work requests it takes; negative: all
	result      int32
	errno       syscall.Errno // what it leaves in errno, whatever the result
	bad         badWR
	badIndex    int
	completions int // in the completion queue
}

func (p *provider) play(s script) {
	p.t.Helper()
	p.call("provider_script", uintptr(s.room), uintptr(s.result), uintptr(s.errno), uintptr(s.bad), uintptr(s.badIndex), uintptr(s.completions))
}

// saw is what a provider wrote down: provider_saw's numbers.
type saw uintptr

const (
	calls saw = iota
	accepted
	theObject
	badBefore // what was in bad_wr before the call
	polled
	theList
	port
	attrLength
	regions   // memory regions that are there
	theAccess // that the last of them was made with
)

func (p *provider) saw(what saw) int {
	p.t.Helper()
	return int(p.call("provider_saw", uintptr(what)))
}

// sawWR is a work request as C reads it: struct seen.
type sawWR struct {
	address, next, sgList        uint64
	wrID, numSGE                 uint64
	opcode, sendFlags, imm       uint64
	remoteAddr, rkey             uint64
	compareAdd, swap, atomicRKey uint64
	ah, remoteQPN, remoteQKey    uint64
	sges                         [][3]uint64 // addr, length, lkey
}

// sawWR returns what the provider saw of work request i of the last post.
func (p *provider) sawWR(i int) sawWR {
	p.t.Helper()
	words := new([16 + 8*3]uint64)
	result := p.call("provider_saw_wr", uintptr(i), uintptr(unsafe.Pointer(words)))
	n := int(int32(result))
	w := sawWR{
		words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7],
		words[8], words[9], words[10], words[11], words[12], words[13], words[14], words[15], nil,
	}
	for at := 16; at < n; at += 3 {
		w.sges = append(w.sges, [3]uint64(words[at:at+3]))
	}
	return w
}

// addressOf is the address of something that is in C or on the heap.
func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }
