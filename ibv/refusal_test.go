package ibv

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
)

// What is found to be wrong with a call is its reason where C gave none, and is
// no other reason than C's where it did.
func TestExplainWhereCGaveNoReason(t *testing.T) {
	act := action{op: "create address handle", on: "rxe0"}
	wrong := func() []string { return []string{"the peer's GID is zero"} }
	for _, tt := range []struct {
		c, want syscall.Errno
	}{{0, syscall.EINVAL}, {syscall.EIO, syscall.EIO}, {syscall.ENOMEM, syscall.ENOMEM}} {
		err := explainWith(act.from(&clib.Error{Errno: tt.c}), wrong)
		require.ErrorIs(t, err, tt.want)
		require.ErrorContains(t, err, "the peer's GID is zero")
	}
	err := explainWith(act.from(&clib.Error{}), func() []string { return nil })
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "C gave no reason")
}
