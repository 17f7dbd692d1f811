//go:build device

package main

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/examples/internal/process"
)

func TestMain(m *testing.M) { process.Main(m, main) }

// Clients are served at the same time, one after the other, and after some that were killed. One that is there when
// the server ends is told, and the server has nothing left to close.
func TestServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	server := process.Start(ctx, t, "listen", "127.0.0.1:0")
	address := server.LineAfter(t, "listening on ")
	endless := strings.Fields(strings.Repeat("again ", 20_000))
	stays := process.Start(ctx, t, append([]string{"say", address}, endless...)...)
	require.Equal(t, "AGAIN", stays.Line(t))
	for range 3 {
		goes := process.Start(ctx, t, "say", address, "one", "two", "three")
		for _, want := range []string{"ONE", "TWO", "THREE"} {
			require.Equal(t, want, goes.Line(t))
		}
		goes.End(t)
		require.Contains(t, server.Line(t), "a client has ended: ")

		dies := process.Start(ctx, t, append([]string{"say", address}, endless...)...)
		require.Equal(t, "AGAIN", dies.Line(t))
		require.NoError(t, dies.Process.Kill())
		require.Error(t, dies.Wait())
		require.Contains(t, server.Line(t), "a client has ended: ")
	}
	require.Equal(t, "AGAIN", stays.Line(t))
	require.NoError(t, server.Process.Signal(syscall.SIGINT))
	require.Equal(t, "a client has ended: interrupt signal received", server.Line(t))
	server.End(t)
	for stays.Output.Scan() { // what had come before
	}
	require.Error(t, stays.Wait())
	require.Contains(t, stays.Errors.String(), "WR_FLUSH_ERR")
}
