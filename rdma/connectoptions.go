package rdma

import (
	"fmt"
	"math/bits"
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// ConnectOptions are what [QP.Connect] connects with. The zero value is what most
// programs want. The two ends may have different ones.
type ConnectOptions struct {
	// GID is where packets come from. Its port is the queue pair's.
	GID GIDChoice
	// MTU is the largest packet, or 0 for the port's ActiveMTU. The smaller one of both
	// ends' is agreed.
	MTU ibv.MTU
	// Data is for the peer's program, at most 64 KiB: where it may write, say. The peer
	// finds it in [Connection].Data.
	Data []byte
	// Ready is called when the queue pair is in INIT, and before the peer hears of it: to
	// post receives, for instance. An error ends Connect.
	Ready func() error
	// Watch gives conn to the queue pair, from a Connect without an error on. When conn
	// ends, as with the peer's process, an RC or UC queue pair moves to the error state,
	// so that who waits, for receives too, is told by flushed completions: after those of
	// all that came before. A byte on conn counts as its end. Close of the queue pair and
	// ToReset close conn, by which the peer learns of it. So who closes first waits
	// until its sends have completed. A host that has vanished is noticed after 6 s, over
	// TCP, with TLS or without, by probes that this end sends. A UD queue pair, which may
	// have other peers, stays as it is: Ended of the Connection tells. It tells in any
	// case: Soft-RoCE does not flush what is posted when the end has come.
	Watch bool
	// Reads is how many RDMA reads and atomics of this end may be outstanding, and how
	// many of the peer's, 255 at most, as far as the device can. What the other end can do
	// limits it, too. 0 is 16, and -1 none.
	Reads int

	// AckTimeout is how long a packet may go without an acknowledgement before it is sent
	// again. It is rounded up to a power of 2 of 4.096 us. 0 is 0.54 s.
	AckTimeout time.Duration
	// Retries is how often a packet is sent again before the peer counts as dead, 7 at
	// most, which Soft-RoCE takes for no end. 0 is 6, and -1 none.
	Retries int
	// RNRRetries is how often a message is sent again to a peer that has no receive
	// posted, 7 at most, which is no end. 0 is 7, and -1 none.
	RNRRetries int
	// RNRTimer is how long the peer is asked to wait with that. It is rounded up to what
	// there is, from 10 us to 655.36 ms. 0 is 0.64 ms.
	RNRTimer time.Duration
}

// timing is the options in the device's own numbers.
type timing struct{ reads, ackTimeout, retries, rnrRetries, rnrTimer uint8 }

func (o *ConnectOptions) timing() (t timing, invalid string) {
	count := func(what string, n, usual, most int) uint8 {
		switch {
		case n == -1:
			return 0
		case n == 0:
			return uint8(usual)
		case n < 0 || n > most:
			invalid = fmt.Sprintf("ConnectOptions.%s is %d: it is -1 to %d", what, n, most)
		}
		return uint8(n)
	}
	t = timing{
		reads: count("Reads", o.Reads, 16, 255), retries: count("Retries", o.Retries, retryCount, 7),
		rnrRetries: count("RNRRetries", o.RNRRetries, rnrRetry, 7),
		ackTimeout: ackTimeout, rnrTimer: minRNRTimer,
	}
	if o.AckTimeout != 0 {
		units := (o.AckTimeout-1)/4096 + 1 // of 4.096 us, in ns
		t.ackTimeout = uint8(max(1, bits.Len64(uint64(max(units, 1)-1))))
	}
	if o.RNRTimer != 0 {
		t.rnrTimer = 1
		for t.rnrTimer < 32 && rnrDelay(t.rnrTimer) < o.RNRTimer {
			t.rnrTimer++
		}
	}
	switch {
	case o.AckTimeout < 0 || t.ackTimeout > 31:
		invalid = fmt.Sprintf("ConnectOptions.AckTimeout is %v: it is 0 to %v", o.AckTimeout, 4096*time.Nanosecond<<31)
	case o.RNRTimer < 0 || rnrDelay(t.rnrTimer) < o.RNRTimer:
		invalid = fmt.Sprintf("ConnectOptions.RNRTimer is %v: it is 0 to %v", o.RNRTimer, rnrDelay(32))
	case len(o.Data) > maxData:
		invalid = fmt.Sprintf("ConnectOptions.Data has %d bytes: it has %d at most", len(o.Data), maxData)
	case o.MTU != 0 && (o.MTU < ibv.MTU256 || o.MTU > ibv.MTU4096):
		invalid = fmt.Sprintf("ConnectOptions.MTU is %d: it is one of the values of ibv.MTU", uint32(o.MTU))
	}
	t.rnrTimer %= 32 // the longest one is 0
	return t, invalid
}

// rnrDelay is what a device's number for the delay means, 1 to 32: 10 us times 1, 2, 3,
// 4, 6, 8, 12, 16 and so on.
func rnrDelay(n uint8) time.Duration {
	const unit = 10 * time.Microsecond
	switch {
	case n == 1:
		return unit
	case n%2 == 0:
		return unit << (n / 2)
	}
	return 3 * unit << ((n - 3) / 2)
}

// invalidOptions is the error of options that cannot be.
func (qp *QP) invalidOptions(hint string) error { return qp.l.failed("connect", syscall.EINVAL, hint) }
