package ccall

import (
	"math"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

const untouched = -1 // in script.setErrno

func TestPost(t *testing.T) {
	fn := symbol(t, "post_script")
	list := new([4]int64)
	element := unsafe.Pointer(&list[2])
	tests := []struct {
		name             string
		result, setErrno int64
		setBad           unsafe.Pointer
		wantResult       int32
		wantErrno        syscall.Errno
		wantBad          unsafe.Pointer
	}{
		{"success", 0, untouched, keep, 0, 0, nil},
		{"success, bad set to NULL", 0, untouched, nil, 0, 0, nil},
		{"success, bad set", 0, untouched, element, 0, 0, element},
		{"positive errno, bad set", int64(syscall.ENOMEM), untouched, element, int32(syscall.ENOMEM), 0, element},
		{"bad untouched after a call that set it", int64(syscall.EINVAL), untouched, keep, int32(syscall.EINVAL), 0, nil},
		{"negative errno", -int64(syscall.ENOMEM), untouched, element, -int32(syscall.ENOMEM), 0, element},
		{"-1 and errno", -1, int64(syscall.ENOMEM), element, -1, syscall.ENOMEM, element},
		{"-1 and errno, bad untouched", -1, int64(syscall.EAGAIN), keep, -1, syscall.EAGAIN, nil},
		{"-1 and errno 0", -1, 0, keep, -1, 0, nil},
		{"errno set but another result", int64(syscall.EINVAL), int64(syscall.EIO), keep, int32(syscall.EINVAL), 0, nil},
		{"errno set but success", 0, int64(syscall.EIO), keep, 0, 0, nil},
		{"smallest", math.MinInt32, int64(syscall.EIO), keep, math.MinInt32, 0, nil},
		{"largest", math.MaxInt32, int64(syscall.EIO), keep, math.MaxInt32, 0, nil},
	}
	bothWays(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s := &script{result: tt.result, setErrno: tt.setErrno, setBad: tt.setBad, sawBad: unsafe.Pointer(list)}
				result, errno, bad := w.post(fn, unsafe.Pointer(s), unsafe.Pointer(list))
				require.Equal(t, tt.wantResult, result)
				require.Equal(t, tt.wantErrno, syscall.Errno(errno))
				require.Equal(t, uintptr(tt.wantBad), bad)
				require.Equal(t, unsafe.Pointer(s), s.sawObject)
				require.Equal(t, unsafe.Pointer(list), s.sawList)
				require.Nil(t, s.sawBad, "the out-slot must be clear before the call")
				require.Zero(t, s.sawFrame%w.alignment)
			})
		}
	})
}

func TestPoll(t *testing.T) {
	fn := symbol(t, "poll_script")
	tests := []struct {
		name             string
		n                int32
		result, setErrno int64
		wantResult       int32
		wantErrno        syscall.Errno
	}{
		{"none", 16, 0, untouched, 0, 0},
		{"some", 16, 5, int64(syscall.EIO), 5, 0},
		{"-1 and errno", 1, -1, int64(syscall.EIO), -1, syscall.EIO},
		{"-2, as providers do", 1, -2, int64(syscall.EIO), -2, 0},
		{"more than asked for", 4, 9, untouched, 9, 0},
		{"largest room", math.MaxInt32, 2, untouched, 2, 0},
	}
	bothWays(t, func(t *testing.T, w way) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				s := &script{result: tt.result, setErrno: tt.setErrno}
				wc := new([portableBatch * CompletionSize]byte)
				result, errno := w.poll(fn, unsafe.Pointer(s), tt.n, unsafe.Pointer(wc))
				require.Equal(t, tt.wantResult, result)
				require.Equal(t, tt.wantErrno, syscall.Errno(errno))
				require.Equal(t, unsafe.Pointer(s), s.sawObject)
				require.Equal(t, w.batch == math.MaxInt32, unsafe.Pointer(wc) == s.sawList)
				require.EqualValues(t, min(tt.n, w.batch), s.sawN)
				require.Zero(t, s.sawFrame%w.alignment)
			})
		}
	})
}

// C returns an int in half of a register. The conventions of loong64, ppc64le, riscv64 and s390x have it extended there, so that no
// compiler leaves anything else.
func TestHalfOfTheRegister(t *testing.T) {
	if slices.Contains([]string{"loong64", "ppc64le", "riscv64", "s390x"}, runtime.GOARCH) {
		t.Skip("an int fills its register here")
	}
	fn := symbol(t, "upper_half")
	bothWays(t, func(t *testing.T, w way) {
		for _, lower := range []int64{0, 5, -2} {
			list := new([9 * CompletionSize]byte)
			result, _, _ := w.post(fn, unsafe.Pointer(&lower), unsafe.Pointer(list))
			require.EqualValues(t, lower, result)
			result, _ = w.poll(fn, unsafe.Pointer(&lower), 9, unsafe.Pointer(list))
			require.EqualValues(t, lower, result)
		}
	})
	lower := int64(5)
	got, err := Poll(fn, unsafe.Pointer(&lower), unsafe.Pointer(new([9 * CompletionSize]byte)), 9, nil)
	require.NoError(t, err)
	require.Equal(t, 5, got)
}

// A direct call costs no allocation, whatever its outcome.
func TestDirectDoesNotAllocate(t *testing.T) {
	post, poll := symbol(t, "post_script"), symbol(t, "poll_script")
	if !Direct() {
		t.Skip("the direct call is not in use here")
	}
	list := new([CompletionSize]int64)
	l, pair := &List{First: unsafe.Pointer(list), Len: 4}, new(Pair)
	refusedFrom := func(unsafe.Pointer, int32, int32, uintptr) (unsafe.Pointer, error) { return nil, nil }
	refusedList := func(*List, int32, int32, uintptr) (int, error) { return 0, nil }
	failed := func(unsafe.Pointer, int32, int32, int32) (int, error) { return 0, nil }
	played, polled := program(&object{setErrno: untouched}), extendedPoll(&queue{nextFailsAt: 1000, failedAt: 2})
	steps, records, slot := make([]Step, 3), unsafe.Pointer(new([4]record)), new(uintptr)
	for _, result := range []int64{0, int64(syscall.ENOMEM), -1} {
		s := &script{result: result, setErrno: int64(syscall.ENOMEM), setBad: unsafe.Pointer(list)}
		bound, boundPoll := BindList(post, unsafe.Pointer(s), refusedList), BindPoll(poll, unsafe.Pointer(s), failed)
		require.Zero(t, testing.AllocsPerRun(100, func() {
			Post(post, unsafe.Pointer(s), unsafe.Pointer(list))
			PostFrom(post, unsafe.Pointer(s), unsafe.Pointer(list), nil, refusedFrom)
			PostList(post, unsafe.Pointer(s), l, nil, refusedList)
			Poll(poll, unsafe.Pointer(s), unsafe.Pointer(list), 1, failed)
			bound(l, 0, 0)
			boundPoll(unsafe.Pointer(list), 1, 0)
			*pair = Pair{PostFn: post, Object: unsafe.Pointer(s), List: unsafe.Pointer(list), PollFn: poll, CQ: unsafe.Pointer(s), Into: unsafe.Pointer(list), Room: 1}
			pair.Make()
			played.Play(steps)
			polled.Poll(records, 4)
			Call(post, uintptr(unsafe.Pointer(s)), uintptr(unsafe.Pointer(list)), uintptr(unsafe.Pointer(slot)), 0, 0, 0)
		}))
	}
}

// What is not to be called is not called, and refused tells why; and nothing is no list.
func TestNotAsked(t *testing.T) {
	fn := symbol(t, "post_script")
	for name, calls := range map[string]struct {
		from fromFunc
		list listFunc
		poll pollFunc

		bindList listBinder
		bindPoll pollBinder
	}{"chosen": {PostFrom, PostList, Poll, BindList, BindPoll}, "step by step": {postFrom, postList, pollInto, bindList, bindPoll}} {
		t.Run(name, func(t *testing.T) {
			s, list := new(script), new([4]int64)
			attached := unsafe.Pointer(s)
			bad, err := calls.from(fn, unsafe.Pointer(s), unsafe.Pointer(list), attached, func(first unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
				require.Equal(t, unsafe.Pointer(list), first)
				require.Equal(t, [3]int64{0, NotAsked, 0}, [3]int64{int64(result), int64(errno), int64(bad)})
				return unsafe.Pointer(&list[1]), errRefused
			})
			require.Equal(t, unsafe.Pointer(&list[1]), bad)
			require.Equal(t, errRefused, err)

			l := &List{First: unsafe.Pointer(list), Len: 4}
			accepted, err := calls.list(fn, unsafe.Pointer(s), l, attached, func(refused *List, result, errno int32, bad uintptr) (int, error) {
				require.Same(t, l, refused)
				require.Equal(t, [3]int64{0, NotAsked, 0}, [3]int64{int64(result), int64(errno), int64(bad)})
				return 2, errRefused
			})
			require.Equal(t, 2, accepted)
			require.Equal(t, errRefused, err)

			bad, err = calls.from(fn, unsafe.Pointer(s), nil, nil, nil)
			require.NoError(t, err)
			require.Nil(t, bad)
			accepted, err = calls.list(fn, unsafe.Pointer(s), &List{First: unsafe.Pointer(list)}, nil, nil)
			require.NoError(t, err)
			require.Zero(t, accepted)
			accepted, err = calls.bindList(fn, unsafe.Pointer(s), nil)(&List{First: unsafe.Pointer(list)}, 0, 0)
			require.NoError(t, err)
			require.Zero(t, accepted)
			for _, poll := range []pollFunc{calls.poll, ofBoundPoll(calls.bindPoll)} {
				got, err := poll(fn, unsafe.Pointer(s), unsafe.Pointer(list), 0, nil)
				require.NoError(t, err)
				require.Zero(t, got)
			}
			require.Nil(t, s.sawObject, "C must not be called for any of this")
		})
	}
}

// No more completions are asked for than C can count.
func TestPollAsksForNoMoreThanCCanCount(t *testing.T) {
	fn := symbol(t, "poll_script")
	for name, poll := range map[string]pollFunc{"chosen": Poll, "bound": ofBoundPoll(BindPoll), "step by step": pollInto} {
		s, room := &script{result: 5, setErrno: untouched}, math.MaxInt32
		room += 3 // which no constant may be where an int has 32 bits
		got, err := poll(fn, unsafe.Pointer(s), unsafe.Pointer(new([portableBatch * CompletionSize]byte)), room, nil)
		require.NoError(t, err, name)
		require.Equal(t, 5, got, name)
		if Direct() {
			require.EqualValues(t, math.MaxInt32, s.sawN, name)
		} else {
			require.EqualValues(t, portableBatch, s.sawN, name)
		}
	}
}

// A function that found more than it was asked for is not believed, even where it was asked for a part.
func TestPortablePollReturnsMoreThanAsked(t *testing.T) {
	fn := symbol(t, "poll_script")
	s, room := &script{result: portableBatch + 44, setErrno: untouched}, new([600 * CompletionSize]byte)
	got, _ := pollPortable(fn, unsafe.Pointer(s), 600, unsafe.Pointer(room))
	require.Greater(t, got, int32(600))
}
