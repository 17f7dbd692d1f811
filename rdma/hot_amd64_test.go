package rdma

import (
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The compiler makes of a post or a poll through a handle one call of what was
// bound, in the caller itself, and asks nothing before it. The only jump that
// depends on anything is that of every function, to more stack.
func TestHotCallsAskNothing(t *testing.T) {
	out, err := exec.Command("go", "build", "-gcflags=-S", "./testdata/hot").CombinedOutput()
	require.NoError(t, err, "%s", out)
	function := regexp.MustCompile(`^(\S.*) STEXT `)
	instruction := regexp.MustCompile(`^\t0x[0-9a-f]+ \d+ \([^)]*\)\t(\w+)\t?(.*)\n$`)
	calls, jumps := map[string][]string{}, map[string][]string{}
	name, ours := "", false
	for line := range strings.Lines(string(out)) {
		if found := function.FindStringSubmatch(line); found != nil {
			name, ours = strings.CutPrefix(found[1], "github.com/goverbs/goverbs/rdma/testdata/hot.")
		}
		found := instruction.FindStringSubmatch(line)
		if found == nil || !ours {
			continue
		}
		switch operation := found[1]; {
		case operation == "CALL" && !strings.HasPrefix(found[2], "runtime.morestack"):
			calls[name] = append(calls[name], found[2])
		case strings.HasPrefix(operation, "J") && operation != "JMP":
			jumps[name] = append(jumps[name], operation)
		}
	}
	require.Len(t, calls, 7)
	for name := range calls {
		require.Len(t, calls[name], 1, name)
		require.Regexp(t, `^[A-Z0-9]+$`, calls[name][0], "%s calls a func value", name)
		require.Equal(t, []string{"JLS"}, jumps[name], name)
	}
}
