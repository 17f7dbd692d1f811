//go:build device

package main

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"syscall"
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
	*exec.Cmd
	output *bufio.Scanner
	errors strings.Builder
}

func example(ctx context.Context, t *testing.T, args ...string) *process {
	program, err := os.Executable()
	require.NoError(t, err)
	p := &process{Cmd: exec.CommandContext(ctx, program, args...)}
	p.Env = append(os.Environ(), itself+"=1")
	p.Stderr = &p.errors
	output, err := p.StdoutPipe()
	require.NoError(t, err)
	p.output = bufio.NewScanner(output)
	require.NoError(t, p.Start())
	return p
}

// line is the next line.
func (p *process) line(t *testing.T) string {
	require.True(t, p.output.Scan(), "no line: %v, %s", p.output.Err(), &p.errors)
	return p.output.Text()
}

// end is that it ends without an error, and has nothing more to say.
func (p *process) end(t *testing.T) {
	require.False(t, p.output.Scan(), "%s", p.output.Text())
	require.NoError(t, p.Wait(), "%s", &p.errors)
	require.Empty(t, p.errors.String())
}

// Clients are served at the same time, one after the other, and after some that were killed. One that is there when
// the server ends is told, and the server has nothing left to close.
func TestServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := example(ctx, t, "listen", "127.0.0.1:0")
	address := strings.TrimPrefix(server.line(t), "listening on ")
	endless := strings.Fields(strings.Repeat("again ", 20_000))
	stays := example(ctx, t, append([]string{"say", address}, endless...)...)
	require.Equal(t, "AGAIN", stays.line(t))
	for range 3 {
		goes := example(ctx, t, "say", address, "one", "two", "three")
		for _, want := range []string{"ONE", "TWO", "THREE"} {
			require.Equal(t, want, goes.line(t))
		}
		goes.end(t)
		require.Contains(t, server.line(t), "a client has ended: ")

		dies := example(ctx, t, append([]string{"say", address}, endless...)...)
		require.Equal(t, "AGAIN", dies.line(t))
		require.NoError(t, dies.Process.Kill())
		require.Error(t, dies.Wait())
		require.Contains(t, server.line(t), "a client has ended: ")
	}
	require.Equal(t, "AGAIN", stays.line(t))
	require.NoError(t, server.Process.Signal(syscall.SIGINT))
	require.Equal(t, "a client has ended: interrupt signal received", server.line(t))
	server.end(t)
	for stays.output.Scan() { // what had come before
	}
	require.Error(t, stays.Wait())
	require.Contains(t, stays.errors.String(), "WR_FLUSH_ERR")
}
