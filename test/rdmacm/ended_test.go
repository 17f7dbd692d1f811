//go:build device

package rdmacm_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/rdmacm"
)

// fate is what a goroutine is told that waits for messages.
type fate struct {
	statuses []ibv.WCStatus // of receives that failed
	err      error
}

// waitToTheEnd waits for messages until all receives have failed, or waiting has.
func (e *ringEnd) waitToTheEnd(ctx context.Context) (f fate) {
	for len(f.statuses) < buffers {
		var in [buffers]rdma.Received
		n, err := e.recvs.Wait(ctx, in[:])
		for i := range in[:n] {
			f.statuses = append(f.statuses, in[i].WC.Status)
		}
		if err != nil {
			f.err = err
			return f
		}
	}
	return f
}

// When a connection ends, in whatever way, goroutines that wait are told: on iWARP by
// the device; on InfiniBand and RoCE the side that did nothing disconnects, too.
func TestEndWhileWaiting(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context, e *ringEnd) error{
		"disconnected": func(_ context.Context, e *ringEnd) error { return rdmacm.Disconnect(e.id) },
		"error state":  func(_ context.Context, e *ringEnd) error { return e.qp.ToErr() },
		"closed":       func(_ context.Context, e *ringEnd) error { return e.dev.CloseAll() },
		"wrong rkey": func(ctx context.Context, e *ringEnd) error {
			to := e.peer
			to.RKey ^= 0xff00
			return e.add(ctx, func() error {
				_, err := e.sends.AddRDMA(ibv.WRRDMAWrite, ibv.SendSignaled, to, e.memory.SGE(0, length))
				return err
			})
		},
		"too long": func(ctx context.Context, e *ringEnd) error {
			return e.add(ctx, func() error {
				_, err := e.sends.Add(ibv.WRSend, ibv.SendSignaled, e.memory.SGE(0, length+1))
				return err
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			active, passive := meet(t, ownQueues, theirs)
			ctx := deadline(t)
			both(t, active, passive, func(e *ringEnd) error { return e.exchange(ctx, 2*buffers) })
			watch, stop := context.WithCancelCause(ctx)
			events := make(chan rdma.Event, 1)
			ended := make(chan error, 1)
			go func() {
				for event, err := range passive.dev.Events(watch) {
					if err != nil {
						ended <- err
						return
					}
					events <- event
				}
			}()
			waits := func(e *ringEnd) chan fate {
				told := make(chan fate, 1)
				go func() { told <- e.waitToTheEnd(ctx) }()
				return told
			}
			atActive, atPassive := waits(active), waits(passive)
			time.Sleep(50 * time.Millisecond) // so that they are parked
			iwarp := active.dev.Raw().Device.IsIWARP()
			require.NoError(t, end(ctx, active))
			if !iwarp {
				require.NoError(t, rdmacm.Disconnect(passive.id))
			}

			f := <-atPassive
			require.NoError(t, f.err)
			require.Len(t, f.statuses, buffers)
			first := slices.IndexFunc(f.statuses, func(s ibv.WCStatus) bool { return s != ibv.WCSuccess })
			require.NotEqual(t, -1, first, "each is a message")
			if name == "too long" {
				require.Equal(t, iwarp, f.statuses[first] == ibv.WCLocLenErr, "%v", f.statuses)
				first++
			}
			for _, status := range f.statuses[first:] {
				require.Equal(t, ibv.WCWRFlushErr, status, "%v", f.statuses)
			}
			if f = <-atActive; name == "closed" {
				require.ErrorIs(t, f.err, rdma.ErrClosed)
				var foreign *rdma.ForeignError
				require.False(t, errors.As(f.err, &foreign), "%v", f.err)
				_, err := active.sends.Wait(ctx)
				require.ErrorIs(t, err, rdma.ErrClosed)
			} else {
				require.NoError(t, f.err)
				require.Equal(t, ibv.WCWRFlushErr, f.statuses[buffers-1])
			}

			// Only siw has an event of it, and only of what the peer has done wrong.
			if iwarp && name == "too long" {
				event := <-events
				require.Equal(t, ibv.EventQPFatal, event.Type)
				require.Same(t, passive.qp, event.QP)
			}
			reason := errors.New("enough was seen")
			stop(reason)
			require.ErrorIs(t, <-ended, reason)
			require.Empty(t, events)
			require.NoError(t, passive.dev.CloseAll())
			require.NoError(t, active.dev.CloseAll())
		})
	}
}
