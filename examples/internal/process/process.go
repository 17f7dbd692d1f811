// Package process is for tests of the examples: it runs one as a process of its own, with the test's program.
package process

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// itself is a variable that a process has that is the example.
const itself = "GOVERBS_EXAMPLE"

// Main is TestMain of an example: it runs the example's main, or the tests.
func Main(m *testing.M, main func()) {
	if os.Getenv(itself) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// Process is the example as a process of its own.
type Process struct {
	*exec.Cmd
	Output *bufio.Scanner
	Errors strings.Builder
}

// Start starts the example.
func Start(ctx context.Context, t *testing.T, args ...string) *Process {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	p := &Process{Cmd: exec.CommandContext(ctx, program, args...)}
	p.Env = append(os.Environ(), itself+"=1")
	p.Stderr = &p.Errors
	output, err := p.StdoutPipe()
	require.NoError(t, err)
	p.Output = bufio.NewScanner(output)
	require.NoError(t, p.Cmd.Start())
	return p
}

// Line is the next line.
func (p *Process) Line(t *testing.T) string {
	t.Helper()
	require.True(t, p.Output.Scan(), "no line: %v, %s", p.Output.Err(), &p.Errors)
	return p.Output.Text()
}

// LineAfter is the rest of the next line, which begins so.
func (p *Process) LineAfter(t *testing.T, begin string) string {
	t.Helper()
	rest, begins := strings.CutPrefix(p.Line(t), begin)
	require.True(t, begins, "%q", p.Output.Text())
	return strings.TrimSpace(rest)
}

// End is that it ends without an error, and has nothing more to say.
func (p *Process) End(t *testing.T) {
	t.Helper()
	require.False(t, p.Output.Scan(), "%s", p.Output.Text())
	require.NoError(t, p.Output.Err())
	require.NoError(t, p.Wait(), "%s", &p.Errors)
	require.Empty(t, p.Errors.String())
}
