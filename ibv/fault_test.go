package ibv_test

import (
	"os"
	"os/exec"
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
)

// A provider that faults ends the process, and the runtime's report names the
// call, and who made it.
func TestFaultInTheProvider(t *testing.T) {
	const role = "IBV_TEST_FAULT"
	// Nothing can be called at address 1.
	ctx := &ibv.Context{}
	ctx.Ops.PostRecv, ctx.Ops.PostSRQRecv, ctx.Ops.PostSend, ctx.Ops.PollCQ = 1, 1, 1, 1
	qp, srq, cq := &ibv.QP{Context: ctx}, &ibv.SRQ{Context: ctx}, &ibv.CQ{Context: ctx}
	recv, send := recvChain(t, 2, 0), sendChain(t, 2, 0)
	calls := []struct {
		name string
		call func()
	}{
		{"ibv.(*RecvChain).Post(", func() { _, _ = recv.Post(qp) }},
		{"ibv.(*RecvChain).PostSRQ(", func() { _, _ = recv.PostSRQ(srq) }},
		{"ibv.(*RecvChain).PostRange(", func() { _, _ = recv.PostRange(qp, 0, 1) }},
		{"ibv.(*RecvChain).PostPicked(", func() { _, _ = recv.PostPicked(qp, []int{1}) }},
		{"ibv.(*SendChain).Post(", func() { _, _ = send.Post(qp) }},
		{"ibv.(*QP).PostRecv(", func() { _, _ = qp.PostRecv(recv.WR(0)) }},
		{"ibv.(*SRQ).PostRecv(", func() { _, _ = srq.PostRecv(recv.WR(0)) }},
		{"ibv.(*QP).PostSend(", func() { _, _ = qp.PostSend(send.WR(0)) }},
		{"ibv.(*CQ).Poll(", func() { _, _ = cq.Poll(make([]ibv.WC, 1)) }},
	}
	if name := os.Getenv(role); name != "" {
		debug.SetPanicOnFault(true)
		for _, c := range calls {
			if c.name == name {
				require.Panics(t, c.call) // which they must not, nor return
			}
		}
		return
	}
	for _, c := range calls {
		for _, way := range []string{"", "portable"} {
			t.Run(c.name+"), GOVERBS_CCALL="+way, func(t *testing.T) {
				cmd := emulated.Itself("-test.run=^TestFaultInTheProvider$")
				cmd.Env = append(os.Environ(), role+"="+c.name, "GOVERBS_CCALL="+way)
				out, err := cmd.CombinedOutput()
				var exit *exec.ExitError
				require.ErrorAs(t, err, &exit)
				require.Equal(t, 2, exit.ExitCode(), "%s", out)
				require.Contains(t, string(out), "SIGSEGV")
				require.Contains(t, string(out), c.name)
				require.Contains(t, string(out), "ibv_test.TestFaultInTheProvider")
				require.NotContains(t, string(out), "--- FAIL", "nothing deferred may run")
			})
		}
	}
}
