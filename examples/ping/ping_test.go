//go:build device

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process with this variable is the example itself.
const itself = "GOVERBS_EXAMPLE"

func TestMain(m *testing.M) {
	if os.Getenv(itself) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// process is the example as a process of its own.
type process struct {
	cmd    *exec.Cmd
	output *bufio.Reader
	errors bytes.Buffer
}

func example(ctx context.Context, t *testing.T, args ...string) *process {
	program, err := os.Executable()
	require.NoError(t, err)
	p := &process{cmd: exec.CommandContext(ctx, program, args...)}
	p.cmd.Env = append(os.Environ(), itself+"=1")
	p.cmd.Stderr = &p.errors
	output, err := p.cmd.StdoutPipe()
	require.NoError(t, err)
	p.output = bufio.NewReader(output)
	require.NoError(t, p.cmd.Start())
	return p
}

// line is the rest of the next line, which begins so.
func (p *process) line(t *testing.T, begin string) string {
	line, err := p.output.ReadString('\n')
	require.NoError(t, err, "%s", &p.errors)
	require.True(t, strings.HasPrefix(line, begin), "%q", line)
	return strings.TrimSpace(strings.TrimPrefix(line, begin))
}

// end is that it ends, and has nothing more to say.
func (p *process) end(t *testing.T) {
	rest, err := io.ReadAll(p.output)
	require.NoError(t, err)
	require.NoError(t, p.cmd.Wait(), "%s", &p.errors)
	require.Empty(t, string(rest))
	require.Empty(t, p.errors.String())
}

// The example is two processes, one of which asks and one of which answers.
func TestPing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answers := example(ctx, t, "listen", "127.0.0.1:0")
	address := answers.line(t, "listening on ")
	asks := example(ctx, t, "dial", address)
	asks.line(t, "1000 round trips of 64 bytes, ")
	asks.end(t)
	answers.end(t)
}
