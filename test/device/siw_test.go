//go:build device

package device

import (
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// Soft-iWARP cannot tell what a shared receive queue has room for, and returns
// negative errnos: a ring on one is made all the same, as far as the queue takes it.
func TestSharedRingOnSoftIWARP(t *testing.T) {
	const name = "siw0"
	out, err := exec.Command("rdma", "link", "add", name, "type", "siw", "netdev", "rx0").CombinedOutput()
	if strings.Contains(string(out), "Invalid argument") {
		t.Skip("the kernel has no Soft-iWARP, as Debian's have not; User Mode Linux's has")
	}
	require.NoError(t, err, "%s", out)
	defer func() { require.NoError(t, exec.Command("rdma", "link", "delete", name).Run()) }()
	ctx, err := ibv.Open(name)
	require.NoError(t, err)
	defer func() { require.NoError(t, ctx.Close()) }()
	pd, err := ctx.AllocPD()
	require.NoError(t, err)
	defer func() { require.NoError(t, pd.Close()) }()
	cq, err := ctx.CreateCQ(1000)
	require.NoError(t, err)
	defer func() { require.NoError(t, cq.Close()) }()
	srq, err := pd.CreateSRQ(&ibv.SRQInitAttr{Attr: ibv.SRQAttr{MaxWR: 64, MaxSGE: 1}})
	require.NoError(t, err)
	_, err = srq.Query()
	require.ErrorIs(t, err, errors.ErrUnsupported)
	whole, err := ibv.NewSRQRecvRing(srq, cq, 16, 64)
	require.NoError(t, err)
	n, err := whole.Poll(make([]ibv.Received, 4))
	require.NoError(t, err)
	require.Zero(t, n)

	// It takes a part of this one, and nothing of the next.
	part, err := ibv.NewSRQRecvRing(srq, cq, 500, 64)
	require.NoError(t, err)
	require.ErrorIs(t, part.Flush(), syscall.ENOMEM)
	none, err := ibv.NewSRQRecvRing(srq, cq, 500, 64)
	require.ErrorIs(t, err, syscall.ENOMEM)
	require.Nil(t, none)
	require.NoError(t, srq.Close())
	require.NoError(t, whole.Close())
	require.NoError(t, part.Close())
}
