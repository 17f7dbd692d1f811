package rdma

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A completion tells of all that was posted before it, also where WRIDs are not told
// apart, so that nobody is accused of what is done.
func TestCompletedOf(t *testing.T) {
	l, err := begin("queue pair")
	require.NoError(t, err)
	defer l.abandon()
	type posted struct {
		wrID      uint64
		signalled bool
	}
	for _, c := range []struct {
		name   string
		works  []posted
		wrID   uint64
		failed bool
		left   int
	}{
		{"the first that is signalled", []posted{{1, true}, {1, true}}, 1, false, 1},
		{"not what is not signalled", []posted{{1, false}, {1, true}, {1, true}}, 1, false, 1},
		{"nothing", []posted{{1, false}, {1, true}}, 2, false, 2},
		{"a failure of what is not signalled", []posted{{1, false}, {2, false}, {3, true}}, 2, true, 1},
		{"a failure of what is signalled", []posted{{1, false}, {2, true}, {2, true}}, 2, true, 1},
		{"a failure of one of several", []posted{{0, false}, {0, false}, {0, true}, {0, true}}, 0, true, 1},
		{"a failure before what is signalled", []posted{{0, false}, {0, false}, {1, true}}, 0, true, 1},
		{"a failure behind what was not polled", []posted{{1, true}, {2, false}, {3, true}}, 2, true, 1},
		{"a failure of something else", []posted{{1, true}}, 2, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := checkedQueue{l: l, send: true, own: true, depth: 8}
			for _, p := range c.works {
				_, m := q.admit([]*work{{queue: &q, wrID: p.wrID, signalled: p.signalled}})
				require.Nil(t, m)
			}
			q.completed(c.wrID, c.failed)
			require.Equal(t, c.left, q.count)
		})
	}
}
