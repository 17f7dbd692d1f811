package ibv_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/recorder"
)

// inProvider is inRecorder for a recorder with the name of a provider's library.
func inProvider(t *testing.T, name string) *recorder.Recorder {
	t.Helper()
	name = filepath.Join("recorders", name) // other tests have other libraries of the name
	functions := recorder.Functions(t, factsFile, "infiniband")
	if os.Getenv("GOVERBS_LIBIBVERBS") == "" { // it is made here, and loaded in the other process
		require.NoError(t, os.MkdirAll(filepath.Join(scratch, "recorders"), 0o700))
		err := os.Link(recorder.Compile(t, scratch, "recorder.so", functions), filepath.Join(scratch, name))
		require.True(t, err == nil || errors.Is(err, os.ErrExist), "%v", err)
	}
	return inLibrary(t, name, functions)
}

// Providers by the names that their libraries have on systems, and how much of the
// kernel's table their drivers go by.
func TestModifyAsksTheTableFirst(t *testing.T) {
	const state, port = ibv.QPAttrMaskState, ibv.QPAttrMaskPort
	type change struct {
		typ  ibv.QPType
		mask ibv.QPAttrMask
	}
	rc, ud, inPlace := change{ibv.QPTRC, state | port}, change{ibv.QPTUD, state | port}, change{ibv.QPTRC, port}
	for name, refused := range map[string][]change{
		"librxe-rdmav34.so":      {rc, ud},
		"libmlx4-rdmav34.so":     {rc, ud, inPlace},
		"libmlx5.so.1.24.44.0":   {rc, inPlace},
		"libbnxt_re-rdmav57.so":  {rc, ud},
		"libefa-rdmav34.so":      nil,
		"libsiw-rdmav34.so":      nil,
		"rxe":                    nil,
		"librxe2-rdmav34.so":     nil,
		"libsomething-newer.so":  nil,
		"libirdma-rdmav59.so.27": {rc, ud},
	} {
		t.Run(name, func(t *testing.T) {
			r := inProvider(t, name)
			if r == nil {
				return
			}
			for _, c := range []change{rc, ud, inPlace} {
				r.Forget()
				qp := &ibv.QP{Context: recordedContext(r, allOps), QPType: c.typ}
				err := qp.Modify(&ibv.QPAttr{QPState: ibv.QPSInit, PortNum: 1}, c.mask)
				asked := !wasCalled(r, "ibv_modify_qp")
				require.Equal(t, slices.Contains(refused, c), asked, "%v", c)
				if !asked {
					require.NoError(t, err)
					continue
				}
				require.ErrorIs(t, err, syscall.EINVAL)
				require.ErrorContains(t, err, map[change]string{
					rc:      "from IBV_QPS_RESET to IBV_QPS_INIT a queue pair of type IBV_QPT_RC also needs IBV_QP_ACCESS_FLAGS|IBV_QP_PKEY_INDEX",
					ud:      "from IBV_QPS_RESET to IBV_QPS_INIT a queue pair of type IBV_QPT_UD also needs IBV_QP_PKEY_INDEX|IBV_QP_QKEY",
					inPlace: "in IBV_QPS_RESET a queue pair of type IBV_QPT_RC does not take IBV_QP_PORT",
				}[c])
			}
		})
	}
}

// wasCalled reports whether a function has been called.
func wasCalled(r *recorder.Recorder, function string) bool {
	return slices.ContainsFunc(r.Calls(), func(c recorder.Call) bool { return c.Function == function })
}

// The state that the library knows may be old: the device's own counts, before a
// refusal and to explain one.
func TestModifyGoesByTheDevicesState(t *testing.T) {
	r := inProvider(t, "librxe-rdmav34.so")
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	play := func(device ibv.QPState, query, modify syscall.Errno) {
		r.Forget()
		r.Play("ibv_query_qp", recorder.Response{
			Result: recorder.Int(int(query)),
			Fill:   []recorder.Memory{{Arg: 1, Bytes: recorder.Bytes(&ibv.QPAttr{QPState: device})}},
		})
		r.Play("ibv_modify_qp", recorder.Response{Result: recorder.Int(int(modify))})
	}
	toRTS := func(known ibv.QPState) error {
		qp := &ibv.QP{Context: ctx, QPType: ibv.QPTUD, State: known}
		return qp.Modify(&ibv.QPAttr{QPState: ibv.QPSRTS, SQPSN: 1}, ibv.QPAttrMaskState|ibv.QPAttrMaskSQPSN)
	}
	// The library is behind: the device takes it.
	play(ibv.QPSRTR, 0, 0)
	require.NoError(t, toRTS(ibv.QPSInit))
	require.True(t, wasCalled(r, "ibv_modify_qp"))
	// Both know: no call.
	play(ibv.QPSInit, 0, 0)
	require.ErrorContains(t, toRTS(ibv.QPSInit), "from IBV_QPS_INIT it can move to IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR or IBV_QPS_ERR")
	require.False(t, wasCalled(r, "ibv_modify_qp"))
	// The library is ahead: the device refuses, and its state explains it.
	play(ibv.QPSErr, 0, syscall.EINVAL)
	require.ErrorContains(t, toRTS(ibv.QPSRTR), "from IBV_QPS_ERR it can move to IBV_QPS_RESET or IBV_QPS_ERR")
	require.True(t, wasCalled(r, "ibv_modify_qp"))
	// Nobody can say: the device decides.
	play(ibv.QPSRTR, syscall.EIO, 0)
	require.NoError(t, toRTS(ibv.QPSInit))
	require.True(t, wasCalled(r, "ibv_modify_qp"))
	// What the device does not have is not explained by the table.
	play(ibv.QPSErr, 0, syscall.EOPNOTSUPP)
	err := toRTS(ibv.QPSRTR)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	require.NotContains(t, err.Error(), "can move")
	// A change that the table allows costs nothing but its call.
	play(ibv.QPSRTR, 0, 0)
	require.NoError(t, toRTS(ibv.QPSRTR))
	require.Len(t, r.Calls(), 1)
}
