package ccall

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// What a call goes on at may need more stack, and keeps its arguments meanwhile in room that the caller made: it must get
// all of them, and must not write over anything of the caller's.
func TestBoundCallsGoOnWithMoreStack(t *testing.T) {
	post, poll := symbol(t, "post_script"), symbol(t, "poll_script")
	for name, bind := range map[string]struct {
		list listBinder
		poll pollBinder
	}{"chosen": {BindList, BindPoll}, "step by step": {bindList, bindPoll}} {
		t.Run(name, func(t *testing.T) {
			list := new([4]int64)
			s := &script{result: -1, setErrno: 77, setBad: unsafe.Pointer(&list[2])}
			l := &List{First: unsafe.Pointer(list), Len: 4}
			bound := bind.list(post, unsafe.Pointer(s), func(refused *List, result, errno int32, bad uintptr) (int, error) {
				var block [64 << 10]byte // more than a goroutine begins with
				if fill(block[:]); refused != l || result != -1 || errno != 77 || bad != uintptr(unsafe.Pointer(&list[2])) {
					return 0, errRefused
				}
				return 3, nil
			})
			boundPoll := bind.poll(poll, unsafe.Pointer(s), func(cq unsafe.Pointer, result, errno, asked int32) (int, error) {
				var block [64 << 10]byte
				if fill(block[:]); cq != unsafe.Pointer(s) || result != -1 || errno != 77 || asked != 5 {
					return 0, errRefused
				}
				return 3, nil
			})
			into := unsafe.Pointer(new([5 * CompletionSize]byte))
			for range 100 {
				done := make(chan bool) // a new goroutine has a small stack
				go func() { done <- postsAmong(bound, l, &numbers) }()
				require.True(t, <-done)
				go func() { done <- pollsAmong(boundPoll, into, &numbers) }()
				require.True(t, <-done)
			}
		})
	}
}

var numbers = [...]uint64{1, 2, 3, 4, 5}

// postsAmong makes a call with values on its stack that it needs afterwards. It makes no other, which could have made room
// for more arguments.
//
//go:noinline
func postsAmong(bound BoundList, l *List, n *[5]uint64) bool {
	a, b, c, d, e := n[0], n[1], n[2], n[3], n[4]
	accepted, err := bound(l, 0, 0)
	return accepted == 3 && err == nil && a == n[0] && b == n[1] && c == n[2] && d == n[3] && e == n[4]
}

//go:noinline
func pollsAmong(bound BoundPoll, into unsafe.Pointer, n *[5]uint64) bool {
	a, b, c, d, e := n[0], n[1], n[2], n[3], n[4]
	got, err := bound(into, 5, 0)
	return got == 3 && err == nil && a == n[0] && b == n[1] && c == n[2] && d == n[3] && e == n[4]
}

//go:noinline
func fill(block []byte) {
	for i := range block {
		block[i] = byte(i)
	}
}

// A func value is all that keeps what is bound alive, and keeps it so.
func TestBoundCallsLive(t *testing.T) {
	fn := symbol(t, "post_script")
	for name, bind := range map[string]listBinder{"chosen": BindList, "step by step": bindList} {
		t.Run(name, func(t *testing.T) {
			gone := make(chan bool, 1)
			list := new([4]int64)
			bound := func() BoundList {
				s := &script{result: 12, setErrno: untouched, setBad: keep}
				runtime.AddCleanup(s, func(bool) { gone <- true }, true)
				shown := new([1 << 10]int64) // the handler's own closure
				shown[1000] = 3
				return bind(fn, unsafe.Pointer(s), func(_ *List, result, _ int32, _ uintptr) (int, error) {
					rest()
					return int(result) + int(shown[1000]), errRefused
				})
			}()
			for range 20 {
				runtime.GC()
				accepted, err := bound(&List{First: unsafe.Pointer(list), Len: 4}, 0, 0)
				require.Equal(t, errRefused, err)
				require.Equal(t, 15, accepted)
			}
			require.Empty(t, gone)
			runtime.KeepAlive(bound)
			bound = nil
			for late := time.Now().Add(10 * time.Second); len(gone) == 0 && time.Now().Before(late); {
				runtime.GC()
				time.Sleep(time.Millisecond)
			}
			require.Len(t, gone, 1, "what is bound must not be kept for ever")
		})
	}
}

// A list that is nil is a panic like any other.
func TestBoundListMissing(t *testing.T) {
	fn := symbol(t, "post_script")
	for _, bind := range []listBinder{BindList, bindList} {
		s := new(script)
		bound := bind(fn, unsafe.Pointer(s), nil)
		for range 3 {
			require.Panics(t, func() { _, _ = bound(nil, 0, 0) })
		}
		require.Nil(t, s.sawObject)
	}
}
