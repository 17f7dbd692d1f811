package rdma

import (
	"crypto/tls"
	"math"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// A nil pointer in a net.Conn is no stream either.
func TestConnectToNothing(t *testing.T) {
	a, b := net.Pipe()
	for conn, is := range map[net.Conn]bool{nil: true, (*net.TCPConn)(nil): true, (*tls.Conn)(nil): true, a: false, b: false, &net.TCPConn{}: false} {
		require.Equal(t, is, isNil(conn), "%T", conn)
	}
}

// Times become the device's numbers as the InfiniBand specification has them.
func TestConnectTiming(t *testing.T) {
	for _, tt := range []struct {
		opts ConnectOptions
		want timing
	}{
		{ConnectOptions{}, timing{16, 17, 6, 7, 12}},
		{ConnectOptions{Reads: -1, Retries: -1, RNRRetries: -1}, timing{0, 17, 0, 0, 12}},
		{ConnectOptions{Reads: 255, Retries: 7, RNRRetries: 1}, timing{255, 17, 7, 1, 12}},
		{ConnectOptions{AckTimeout: 1, RNRTimer: 1}, timing{16, 1, 6, 7, 1}},
		{ConnectOptions{AckTimeout: 536870912, RNRTimer: 640 * time.Microsecond}, timing{16, 17, 6, 7, 12}},
		{ConnectOptions{AckTimeout: 536870913, RNRTimer: 641 * time.Microsecond}, timing{16, 18, 6, 7, 13}},
		{ConnectOptions{AckTimeout: time.Second, RNRTimer: 491520 * time.Microsecond}, timing{16, 18, 6, 7, 31}},
		{ConnectOptions{AckTimeout: time.Hour, RNRTimer: 655360 * time.Microsecond}, timing{16, 30, 6, 7, 0}},
	} {
		got, invalid := tt.opts.timing()
		require.Empty(t, invalid)
		require.Equal(t, tt.want, got, "%+v", tt.opts)
	}
	for text, opts := range map[string]ConnectOptions{
		"Reads is 256: it is -1 to 255":       {Reads: 256},
		"Retries is 8: it is -1 to 7":         {Retries: 8},
		"RNRRetries is -2: it is -1 to 7":     {RNRRetries: -2},
		"AckTimeout":                          {AckTimeout: 3 * time.Hour},
		"RNRTimer is 1s: it is 0 to 655.36ms": {RNRTimer: time.Second},
		"Data":                                {Data: make([]byte, maxData+1)},
		"MTU is 1024: it is one of":           {MTU: ibv.MTU(1024)},
	} {
		_, invalid := opts.timing()
		require.Contains(t, invalid, text)
	}
	for _, opts := range []ConnectOptions{{AckTimeout: -1}, {RNRTimer: -1}, {AckTimeout: math.MaxInt64}, {RNRTimer: math.MaxInt64}} {
		_, invalid := opts.timing()
		require.NotEmpty(t, invalid)
	}
}
