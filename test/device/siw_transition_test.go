//go:build device && siw

package device

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// siw has iWARP's rules: it takes nearly everything, and moves nowhere but to the
// error state without a connection. Whatever it takes, Modify takes.
func TestSiwTransitionsAreTheDevices(t *testing.T) {
	r := newRigOn(t, siwName)
	tried := map[bool]int{}
	for _, from := range []ibv.QPState{ibv.QPSReset, ibv.QPSInit, ibv.QPSRTR, ibv.QPSErr} {
		m := newMoving(r, ibv.QPTRC)
		attr := m.attr
		attr.QPState = from
		require.Zero(t, m.raw(attr, ibv.QPAttrMaskState))
		for _, to := range targets {
			if to == ibv.QPSErr && from != ibv.QPSErr {
				continue // there is no way back
			}
			for _, mask := range masks(ibv.QPTRC, from, to) {
				attr := m.attr
				attr.QPState, attr.CurQPState = to, from
				kernel := m.raw(attr, mask)
				m.qp.State = from
				err := m.qp.Modify(&attr, mask)
				m.qp.State = from
				what := fmt.Sprintf("%v to %v: %v", from, to, mask)
				tried[kernel == 0]++
				if kernel == 0 {
					require.NoError(t, err, what)
					continue
				}
				require.ErrorIs(t, err, kernel, what)
				require.NotContains(t, err.Error(), "it can move to", "the table is not iWARP's")
			}
		}
	}
	require.Greater(t, tried[true], 300)
	require.Greater(t, tried[false], 50)
	t.Logf("%d changes accepted, %d refused", tried[true], tried[false])
	m := newMoving(r, ibv.QPTRC)
	attr := m.attr
	attr.QPState = ibv.QPSRTS
	err := m.qp.Modify(&attr, ibv.QPAttrMaskState)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "connected by librdmacm alone")
}
