//go:build !amd64 && !arm64

// Package ticks reads a clock. C reads the same one in package native.
package ticks

import "time"

var start = time.Now()

// Now is a time to take differences of.
func Now() int64 { return int64(time.Since(start)) }
