//go:build device

package main

import (
	"context"
	"testing"
	"time"

	"github.com/goverbs/goverbs/examples/internal/process"
)

func TestMain(m *testing.M) { process.Main(m, main) }

// The example is two processes, one of which asks and one of which answers.
func TestPing(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	answers := process.Start(ctx, t, "listen", "127.0.0.1:0")
	address := answers.LineAfter(t, "listening on ")
	asks := process.Start(ctx, t, "dial", address)
	asks.LineAfter(t, "1000 round trips of 64 bytes, ")
	asks.End(t)
	answers.End(t)
}
