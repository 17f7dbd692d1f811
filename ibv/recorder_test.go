package ibv_test

import (
	"os"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/recorder"
)

// factsFile has what is known of verbs.h.
const factsFile = "zz_generated.facts.json.gz"

// inRecorder runs the calling test in a process whose libibverbs is a recorder
// with all functions of verbs.h. It returns nil in this process, where nothing is
// left to do, and the recorder in the other one.
func inRecorder(t *testing.T) *recorder.Recorder {
	t.Helper()
	return inLibrary(t, "recorder.so", recorder.Functions(t, factsFile, "infiniband"))
}

// inEmptyLibrary is inRecorder for a libibverbs that has none of the functions,
// as an old one has none of the new ones.
func inEmptyLibrary(t *testing.T) *recorder.Recorder {
	t.Helper()
	return inLibrary(t, "empty.so", nil)
}

func inLibrary(t *testing.T, name string, functions []string) *recorder.Recorder {
	t.Helper()
	const role, libibverbs = "IBV_TEST_IN_RECORDER", "GOVERBS_LIBIBVERBS"
	if os.Getenv(role) == "" {
		again(t, "^"+t.Name()+"$", role+"=1", libibverbs+"="+recorder.Compile(t, scratch, name, functions))
		return nil
	}
	return recorder.Open(t, os.Getenv(libibverbs))
}

// recordedContext is a context whose every operation the recorder takes down.
// Without all, it is only the last size bytes of a verbs_context, as those of an
// older library are, and before them is nothing.
func recordedContext(r *recorder.Recorder, size uintptr) *ibv.Context {
	const whole = unsafe.Sizeof(ibv.VerbsContext{})
	address := recorder.Tail[ibv.VerbsContext](r, size) + size - unsafe.Sizeof(ibv.Context{})
	// Safe: the context is the object's last member, in C's memory, which stays.
	ctx := *(**ibv.Context)(unsafe.Pointer(&address))
	ctx.ABICompat = ^uintptr(0)
	ctx.Device = recorder.Object[ibv.Device](r)
	copy(ctx.Device.Name[:], "recorder0")
	sz := address - (unsafe.Offsetof(ibv.VerbsContext{}.Context) - unsafe.Offsetof(ibv.VerbsContext{}.Sz))
	// Safe: the size is in front of the context, and every object has it.
	**(**uintptr)(unsafe.Pointer(&sz)) = min(size, whole)
	return ctx
}

// allOps and noOps are sizes for recordedContext: with every operation, and with
// none.
const (
	allOps = unsafe.Sizeof(ibv.VerbsContext{})
	noOps  = unsafe.Sizeof(ibv.VerbsContext{}) - unsafe.Offsetof(ibv.VerbsContext{}.Sz)
)

// A call of a function, and one of an operation of the context, are taken down.
func TestRecorder(t *testing.T) {
	r := inRecorder(t)
	if r == nil {
		return
	}
	ctx := recordedContext(r, allOps)
	pd := recorder.Object[ibv.PD](r)
	r.Play("ibv_alloc_pd", recorder.Response{Result: uint64(uintptr(unsafe.Pointer(pd)))})
	got, err := ctx.AllocPD()
	require.NoError(t, err)
	require.Same(t, pd, got)
	r.Only().Require(t, "ibv_alloc_pd", ctx)

	attr := &ibv.PortAttr{LID: 0x1234}
	r.Play("VerbsContext.QueryPort", recorder.Response{Fill: []recorder.Memory{{Arg: 2, Bytes: recorder.Bytes(attr)}}})
	port, err := ctx.QueryPort(7)
	require.NoError(t, err)
	require.Equal(t, *attr, port)
	call := r.Only()
	call.Require(t, "VerbsContext.QueryPort", ctx, uint8(7), uintptr(call.Args[2]), unsafe.Sizeof(*attr))

	_, err = recordedContext(r, noOps).QueryPort(8)
	require.NoError(t, err)
	r.Only().Require(t, "ibv_query_port")
}

// The recorder has what libibverbs exports, and not what is inline in verbs.h.
func TestRecordedFunctions(t *testing.T) {
	names := recorder.Functions(t, factsFile, "infiniband")
	for _, name := range []string{"ibv_reg_mr", "ibv_reg_mr_iova2", "_ibv_query_gid_ex", "ibv_query_port", "mbps_to_ibv_rate"} {
		require.Contains(t, names, name)
	}
	for _, name := range []string{"strlen", "ibv_poll_cq", "ibv_query_device_ex"} {
		require.NotContains(t, names, name)
	}
}
