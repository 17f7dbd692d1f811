package rdma

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Close and a call at the same time: whichever comes second is told, and the other is
// as if it were alone.
func TestUsage(t *testing.T) {
	l, err := begin("device")
	require.NoError(t, err)
	defer l.abandon()
	l.name = "busy0"
	var u usage
	destroyed, refuse := 0, error(nil)
	destroy := u.closed(l, func() error { destroyed++; return refuse }, func() {})

	require.Nil(t, u.begin(l, nil))
	err = destroy()
	require.ErrorIs(t, err, syscall.EBUSY)
	require.Contains(t, firstLine(err), "another goroutine uses it at the same time")
	require.Zero(t, destroyed)
	u.end()

	refuse = syscall.EIO
	require.ErrorIs(t, destroy(), syscall.EIO)
	require.Nil(t, u.begin(l, nil), "it stays as it was")
	u.end()

	refuse = nil
	require.NoError(t, destroy())
	require.Equal(t, 2, destroyed)
	m := u.begin(l, nil)
	require.NotNil(t, m)
	require.ErrorIs(t, m.error("post sends to", l), syscall.EBUSY)
}

// A chain is posted by one goroutine at a time, and by others afterwards.
func TestPostingTwice(t *testing.T) {
	var p lists
	chain, other := new(int), new(int)
	require.Nil(t, p.begin(chain, nil))
	require.Nil(t, p.begin(other, nil))
	m := p.begin(chain, nil)
	require.NotNil(t, m)
	require.Contains(t, m.text, "another goroutine posts the same work requests")
	p.end(chain)
	require.Nil(t, p.begin(chain, nil))
}

// Uses of memory are found by whatever overlaps with them, of all sizes.
func TestMemoryInUse(t *testing.T) {
	var m memoryUses
	var all []*use
	for i := range uint64(2000) {
		u := &use{start: i * 37 % 5000, end: i*37%5000 + 1 + i*i%700}
		all = append(all, u)
		m.add(u)
	}
	for i, gone := range all {
		for _, q := range []use{{start: gone.start, end: gone.end}, {start: gone.end, end: gone.end + 1}, {start: 0, end: 1 << 40}} {
			want, got := 0, 0
			for _, u := range all[i:] {
				if u.start < q.end && q.start < u.end {
					want++
				}
			}
			m.find(&q, func(*use) bool { got++; return false })
			require.Equal(t, want, got)
		}
		m.remove(gone)
	}
	for k := range m {
		require.Zero(t, m[k].uses)
		require.Empty(t, m[k].buckets)
	}
}
