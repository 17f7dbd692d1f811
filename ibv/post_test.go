package ibv_test

import (
	"errors"
	"fmt"
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/postforms"
)

const firstID = postforms.FirstID

// These are short names for what package postforms has.
var (
	recvChain = postforms.RecvChain
	sendChain = postforms.SendChain
)

// queuesOf is what lists are posted to, of a provider.
func queuesOf(p *provider) postforms.Queues {
	return postforms.Queues{QP: p.QP, SRQQP: p.SRQQP, SRQ: p.SRQ}
}

// listLength is how many work requests are posted where nothing else is said.
const listLength = 4

const unknown = -1 // for how many were accepted

// outcome is a way for a provider to answer, and what it means.
type outcome struct {
	name        string
	script      script
	accepted    int
	errno       syscall.Errno // 0 for success
	unexplained bool
}

// outcomes are the ways that providers answer a post.
func outcomes() []outcome {
	const n = listLength
	list := []outcome{
		{"success, bad_wr untouched", script{Room: all}, n, 0, false},
		{"success, bad_wr NULL", script{Room: all, Bad: null}, n, 0, false},
		{"success, bad_wr outside the list", script{Room: all, Bad: outside}, n, 0, false},
		{"success, bad_wr within a work request", script{Room: all, Bad: inside, BadIndex: 1}, n, 0, false},
		{"success, bad_wr stale", script{Room: all, Bad: stale}, n, 0, false},
		{"success, errno left over", script{Room: all, Errno: syscall.EIO}, n, 0, false},
	}
	// A queue pair that is in the wrong state, or a doorbell that failed, is
	// refused without a word on the work request.
	for _, bad := range []struct {
		name string
		bad  badWR
	}{{"untouched", untouched}, {"NULL", null}, {"outside the list", outside}, {"within a work request", inside}, {"stale", stale}} {
		for _, result := range refusals {
			list = append(list, outcome{result.name + ", bad_wr " + bad.name,
				script{Room: 2, Result: result.result, Errno: result.left, Bad: bad.bad, BadIndex: 1}, unknown, result.errno, false})
		}
	}
	for _, k := range []int{0, 1, n - 1} {
		for _, result := range refusals {
			list = append(list, outcome{fmt.Sprintf("%s at work request %d", result.name, k),
				script{Room: k, Result: result.result, Errno: result.left, Bad: element, BadIndex: k}, k, result.errno, false})
		}
		// siw's doorbell overwrites the refusal.
		list = append(list, outcome{fmt.Sprintf("0 at work request %d", k),
			script{Room: k, Errno: syscall.EIO, Bad: element, BadIndex: k}, k, syscall.ENOMEM, true})
	}
	return list
}

// refusals are the results that providers give.
var refusals = []struct {
	name   string
	result int32
	left   syscall.Errno // in errno
	errno  syscall.Errno // the meaning
}{
	{"ENOMEM", int32(syscall.ENOMEM), 0, syscall.ENOMEM},
	{"EINVAL, errno left over", int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
	{"-ENOMEM", -int32(syscall.ENOMEM), 0, syscall.ENOMEM},
	{"-EINVAL, errno left over", -int32(syscall.EINVAL), syscall.EIO, syscall.EINVAL},
	{"-EIO", -int32(syscall.EIO), 0, syscall.EIO},
	{"EPERM", int32(syscall.EPERM), syscall.EIO, syscall.EPERM},
	{"-1, ENOMEM in errno", -1, syscall.ENOMEM, syscall.ENOMEM},
	{"-1, nothing in errno", -1, 0, syscall.EIO},
	{"-1, nonsense in errno", -1, 0xfffffff0, 0xfffffff0},
	{"the last errno that Linux has", 133, 0, 133},
	{"an errno that Linux does not have", 134, 0, 134},
	{"largest result", math.MaxInt32, 0, math.MaxInt32},
	{"smallest result", math.MinInt32, 0, -math.MinInt32},
}

func TestPost(t *testing.T) {
	p := newProvider(t, wholeContext)
	for _, f := range postforms.Forms {
		for _, o := range outcomes() {
			t.Run(f.Name+"/"+o.name, func(t *testing.T) {
				p := *p
				p.T = t
				p.Play(script{Room: all})
				previous := f.List(t, queuesOf(&p), 3)
				n, err := previous.Post()
				require.NoError(t, err)
				require.Equal(t, 3, n)

				list := f.List(t, queuesOf(&p), listLength)
				p.Play(o.script)
				got, err := list.Post()
				list.Check()
				require.Equal(t, o.accepted, got)
				requirePostError(t, err, f.Op, o)

				took := listLength
				if o.script.Room != all {
					took = o.script.Room
				}
				require.Equal(t, 1, p.Saw(calls), "one call for one post")
				require.Equal(t, took, p.Saw(accepted), "the provider must see the list as it is")
				require.Zero(t, p.Saw(badBefore), "the out-slot must be clear before the call")
				require.Equal(t, pointerOf(list.Object), uintptr(p.Saw(theObject)))
				for i := range took {
					require.EqualValues(t, firstID+i, p.SawWR(i).WRID)
				}
				if took > 0 {
					require.Equal(t, list.First, p.SawWR(0).Address, "no copy")
				}
				if o.script.Room == all {
					require.Zero(t, p.SawWR(listLength-1).Next, "the list must end")
				}
				// Going on from there posts the rest of a chain, which is whole.
				p.Play(script{Room: all})
				again, err := list.Post()
				require.NoError(t, err)
				require.Equal(t, listLength, again)
			})
		}
	}
}

func requirePostError(t *testing.T, err error, op string, o outcome) {
	t.Helper()
	if o.errno == 0 {
		require.NoError(t, err)
		return
	}
	require.Error(t, err)
	require.ErrorIs(t, err, o.errno)
	var post *ibv.PostError
	require.True(t, errors.As(err, &post))
	require.Equal(t, &ibv.PostError{Op: op, Errno: o.errno, Result: o.script.Result, AcceptedUnknown: o.accepted == unknown, Unexplained: o.unexplained}, post)
	require.Equal(t, o.accepted == unknown, errors.Is(err, ibv.ErrAcceptedUnknown))
	require.Contains(t, err.Error(), "ibv: "+op+": "+o.errno.Error())
}

// pointerOf is the address of an object of the provider's.
func pointerOf(object any) uintptr {
	switch o := object.(type) {
	case *ibv.QP:
		return uintptr(unsafe.Pointer(o))
	case *ibv.SRQ:
		return uintptr(unsafe.Pointer(o))
	}
	panic("no such object")
}

// Whatever the provider would say, an empty list is a success: providers differ.
func TestPostNothing(t *testing.T) {
	p := newProvider(t, wholeContext)
	p.Play(script{Result: int32(syscall.EINVAL)})
	for _, qp := range []*ibv.QP{p.QP, p.SRQQP} {
		bad, err := qp.PostRecv(nil)
		require.NoError(t, err)
		require.Nil(t, bad)
		badSend, err := qp.PostSend(nil)
		require.NoError(t, err)
		require.Nil(t, badSend)
	}
	bad, err := p.SRQ.PostRecv(nil)
	require.NoError(t, err)
	require.Nil(t, bad)

	recv, send := recvChain(t, 3, 0), sendChain(t, 3, 0)
	for at := range 4 {
		for name, post := range map[string]func() (int, error){
			"RecvChain.PostRange":               func() (int, error) { return recv.PostRange(p.QP, at, at) },
			"RecvChain.PostRange, QP with SRQ":  func() (int, error) { return recv.PostRange(p.SRQQP, at, at) },
			"RecvChain.PostRange to an SRQ":     func() (int, error) { return recv.PostRange(p.SRQ, at, at) },
			"SendChain.PostRange":               func() (int, error) { return send.PostRange(p.QP, at, at) },
			"RecvChain.Post, the zero chain":    func() (int, error) { return new(ibv.RecvChain).Post(p.QP) },
			"RecvChain.PostSRQ, the zero chain": func() (int, error) { return new(ibv.RecvChain).PostSRQ(p.SRQ) },
			"SendChain.Post, the zero chain":    func() (int, error) { return new(ibv.SendChain).Post(p.QP) },
		} {
			accepted, err := post()
			require.NoError(t, err, name)
			require.Zero(t, accepted, name)
		}
	}
	require.Zero(t, p.Saw(calls), "the provider must not be asked")
}

// What is in the chain but was not posted was not refused either.
func TestRangeAndTheRestOfTheChain(t *testing.T) {
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 10, 0), sendChain(t, 10, 0)
	for name, post := range map[string]func(first, end int) (int, error){
		"RecvChain.PostRange":           func(first, end int) (int, error) { return recv.PostRange(p.QP, first, end) },
		"RecvChain.PostRange to an SRQ": func(first, end int) (int, error) { return recv.PostRange(p.SRQ, first, end) },
		"SendChain.PostRange":           func(first, end int) (int, error) { return send.PostRange(p.QP, first, end) },
	} {
		for _, before := range []int{0, 2} {
			p.Play(script{Room: all})
			_, err := post(before, 10) // so that this is what a stale pointer points to
			require.NoError(t, err)
			p.Play(script{Result: int32(syscall.EINVAL), Bad: stale})
			n, err := post(3, 6)
			require.ErrorIs(t, err, ibv.ErrAcceptedUnknown, name)
			require.Equal(t, unknown, n)

			p.Play(script{Room: all})
			_, err = post(before+6, 10)
			require.NoError(t, err)
			p.Play(script{Room: all, Bad: stale})
			n, err = post(3, 6)
			require.NoError(t, err, name)
			require.Equal(t, 3, n)
		}
	}
}
