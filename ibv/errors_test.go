package ibv

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
)

func TestErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  *Error
		want string
	}{
		{&Error{Op: "do this", Errno: syscall.ENOMEM}, "ibv: do this: cannot allocate memory (ENOMEM)"},
		{&Error{Op: "do this", On: "rxe0", Errno: syscall.EINVAL}, "ibv: do this on rxe0: invalid argument (EINVAL)"},
		{&Error{Op: "do this", On: "rxe0", Errno: syscall.EINVAL, Hint: "do that"}, "ibv: do this on rxe0: invalid argument (EINVAL); do that"},
		{&Error{Op: "do this", Errno: 4000}, "ibv: do this: errno 4000"},
	} {
		require.EqualError(t, tt.err, tt.want)
		require.ErrorIs(t, tt.err, tt.err.Errno)
	}
}

func TestActionErrors(t *testing.T) {
	act := action{op: "do this", on: "rxe0", hints: map[syscall.Errno]string{syscall.EINVAL: "own advice", syscall.EIO: "better advice"}}

	err := act.failed(syscall.EINVAL)
	require.EqualError(t, err, "ibv: do this on rxe0: invalid argument (EINVAL); own advice")
	require.NotErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, act.failed(syscall.EIO), "better advice", "the action's own first")
	require.ErrorContains(t, act.failed(syscall.EACCES), "/dev/infiniband/uverbs")
	require.ErrorContains(t, act.failed(syscall.EAGAIN), "rdma.max")
	require.ErrorIs(t, act.failed(syscall.EACCES), fs.ErrPermission)
	require.NotContains(t, act.failed(syscall.EBUSY).Error(), ";", "no advice where there is none")

	for _, errno := range []syscall.Errno{syscall.EOPNOTSUPP, syscall.ENOSYS} {
		err := act.failed(errno)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorIs(t, err, errno)
		var e *Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, errno, e.Errno)
		require.ErrorContains(t, err, "does not have it")
	}

	err = act.unavailable(fmt.Errorf("%w: ibv_do_this", dl.ErrNoSymbol))
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.ErrorContains(t, err, "do this on rxe0")
	require.ErrorContains(t, err, "ibv_do_this")

	noLibrary := errors.New("no library")
	err = act.unavailable(noLibrary)
	require.ErrorIs(t, err, noLibrary)
	require.NotErrorIs(t, err, errors.ErrUnsupported)
	require.ErrorContains(t, err, "do this")

	err = act.invalid("%d is too many", 5)
	require.EqualError(t, err, "ibv: do this on rxe0: invalid argument (EINVAL); 5 is too many")
	require.ErrorIs(t, err, syscall.EINVAL)
}

func TestErrnoOf(t *testing.T) {
	require.Equal(t, syscall.ENOMEM, errnoOf(syscall.ENOMEM))
	require.Equal(t, syscall.ENOMEM, errnoOf(fmt.Errorf("wrapped: %w", syscall.ENOMEM)))
	require.Equal(t, syscall.EIO, errnoOf(errors.New("something else")))
}

func TestReason(t *testing.T) {
	for _, tt := range []struct {
		result, errno int32
		want          syscall.Errno
	}{
		{int32(syscall.ENOMEM), 0, syscall.ENOMEM},
		{int32(syscall.ENOMEM), int32(syscall.EIO), syscall.ENOMEM},
		{-int32(syscall.ENOMEM), int32(syscall.EIO), syscall.ENOMEM},
		{1, int32(syscall.EIO), syscall.EPERM},
		{-1, int32(syscall.ENOMEM), syscall.ENOMEM},
		{-1, int32(syscall.EPERM), syscall.EPERM},
		{-1, 0, syscall.EIO},
		{-2, 0, syscall.ENOENT},
		{-1, -1, math.MaxUint32},
		{-1, math.MinInt32, 1 << 31},
		{math.MaxInt32, 0, math.MaxInt32},
		{-math.MaxInt32, 0, math.MaxInt32},
		{math.MinInt32, 0, 1 << 31},
	} {
		require.Equal(t, tt.want, reason(tt.result, tt.errno), "%d, %d", tt.result, tt.errno)
	}
}

func TestPostErrorText(t *testing.T) {
	for _, tt := range []struct {
		err  *PostError
		want string
	}{
		{&PostError{Op: "post send", Errno: syscall.EBADF}, "ibv: post send: bad file descriptor (EBADF)"},
		{&PostError{Op: "post receive", Errno: syscall.EINVAL}, "ibv: post receive: invalid argument (EINVAL); " + postHints[syscall.EINVAL]},
		{&PostError{Op: "post receive", Errno: syscall.ENOMEM, Unexplained: true},
			"ibv: post receive: cannot allocate memory (ENOMEM); " + postHints[syscall.ENOMEM] + "; the provider gave no reason, which has meant a full queue"},
		{&PostError{Op: "post shared receive", Errno: syscall.EIO, AcceptedUnknown: true},
			"ibv: post shared receive: input/output error (EIO); " + postHints[syscall.EIO] + "; which work request was refused is not known"},
		{&PostError{Op: "post send", Errno: 1 << 31}, "ibv: post send: errno 2147483648"},
	} {
		require.EqualError(t, tt.err, tt.want)
		require.ErrorIs(t, tt.err, tt.err.Errno)
		require.Equal(t, tt.err.AcceptedUnknown, errors.Is(tt.err, ErrAcceptedUnknown))
	}
}

func TestErrSRQAttached(t *testing.T) {
	require.ErrorIs(t, ErrSRQAttached, syscall.EINVAL)
	require.NotErrorIs(t, ErrSRQAttached, ErrAcceptedUnknown)
	require.ErrorContains(t, ErrSRQAttached, "post receive")
}

// Errors of posts are shared: the same refusal is the same error, from whatever
// goroutine, and different ones never are.
func TestPostFailedConcurrently(t *testing.T) {
	type refusal struct {
		op      postOp
		result  int32
		unknown bool
	}
	var refusals []refusal
	for op := range postOps {
		for _, result := range []int32{0, 1, 99, -99, 133, -133, 134, math.MinInt32, math.MaxInt32} {
			refusals = append(refusals, refusal{op, result, false}, refusal{op, result, true})
		}
	}
	const goroutines = 8
	got := make([][]error, goroutines)
	var group sync.WaitGroup
	for g := range goroutines {
		got[g] = make([]error, len(refusals))
		group.Go(func() {
			for range 100 {
				for i, r := range refusals {
					got[g][i] = postFailed(r.op, r.result, 0, r.unknown)
				}
			}
		})
	}
	group.Wait()
	for i, r := range refusals {
		want := &PostError{Op: r.op.String(), Errno: syscall.Errno(uint32(max(r.result, -r.result))), Result: r.result, AcceptedUnknown: r.unknown, Unexplained: r.result == 0}
		if r.result == 0 {
			want.Errno = syscall.ENOMEM
		}
		for g := range goroutines {
			require.Equal(t, want, got[g][i], "%+v", r)
			if want.Errno <= 133 {
				require.Same(t, got[0][i], got[g][i], "%+v", r)
			}
		}
		for j := range i {
			require.NotSame(t, got[0][i], got[0][j])
		}
	}
}
