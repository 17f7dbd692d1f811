//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/rdma"
)

// A context is cancelled at any point of a connection's life: in the middle of what the
// ends tell each other, between their states, in traffic, while waiting. That end says
// so at once, with the cause; the other one learns of it by the stream; both close all,
// and are left with nothing.
func TestCancelledAtAnyPoint(t *testing.T) {
	const seed = 11
	random := rand.New(rand.NewPCG(seed, seed))
	r := newRig(t)
	base := kernelHas(t, deviceName)
	reason := errors.New("the reason")
	var goroutines, open int
	where := map[string]int{}
	rounds := max(effort(t, 100), 10)
	for round := range rounds {
		ctx, cancel := context.WithCancelCause(context.Background())
		here, there := net.Pipe()
		conn := &fuse{Conn: here, reads: -1, writes: -1, burn: func() { cancel(reason) }}
		var mine, peers *talker
		for _, talker := range []**talker{&mine, &peers} {
			var err error
			*talker, err = newTalker(r.pd, nil, talkDepth)
			require.NoError(t, err)
		}
		opts := rdma.ConnectOptions{AckTimeout: rapid}
		stage := []string{"written", "read", "Ready", "message", "any time"}[round%5]
		switch stage {
		case "written":
			conn.writes = random.IntN(200)
		case "read":
			conn.reads = random.IntN(200)
		case "Ready":
			opts.Ready = func() error {
				cancel(reason)
				return nil
			}
		case "message":
			last := uint64(random.IntN(1000))
			mine.onMessage = func() {
				if mine.received > last {
					cancel(reason)
				}
			}
		case "any time":
			time.AfterFunc(time.Duration(random.IntN(20_000))*time.Microsecond, func() { cancel(reason) })
		}
		var all sync.WaitGroup
		var peersErr error
		all.Go(func() {
			ctx, gone := context.WithCancelCause(context.Background())
			defer gone(nil)
			if peersErr = peers.connect(ctx, there, rdma.ConnectOptions{AckTimeout: rapid}); peersErr == nil {
				go watchPeer(there, gone)
				peersErr = peers.talk(ctx, endless)
			}
		})
		err := soon(t, "the exchange", func() error {
			defer here.Close()
			if err := mine.connect(ctx, conn, opts); err != nil {
				return err
			}
			if stage == "written" || stage == "read" { // it was late, or has all been said
				cancel(reason)
			}
			where["connected"]++
			return mine.talk(ctx, endless)
		})
		require.ErrorIs(t, err, reason, stage)
		require.Error(t, soon(t, "the peer", func() error {
			all.Wait()
			return peersErr
		}), stage)
		require.NoError(t, there.Close())
		cancel(nil)
		where[stage]++
		for _, talker := range []*talker{mine, peers} {
			require.NoError(t, soon(t, "Close", func() error { return talker.close(true) }))
		}
		g, o, _ := process(t)
		if round < 5 {
			goroutines, open = g, o
		}
		require.LessOrEqual(t, o, open, "round %d: %s", round, stage)
		require.LessOrEqual(t, g, goroutines+1, "round %d: %s: one may be about to end", round, stage)
	}
	require.Equal(t, base, kernelHas(t, deviceName))
	t.Logf("cancelled in: %v", where)
}
