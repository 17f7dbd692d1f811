//go:build device

package rdmacm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// say adds a message with a number, or one with 0, which tells of posted buffers alone.
func (e *ringEnd) say(number uint64) error {
	at := int(e.added%depth) * length
	if _, err := e.sends.Add(ibv.WRSend, 0, e.memory.SGE(at, length)); err != nil {
		return err
	}
	e.added++
	e.told = e.recvs.Posted()
	message := e.memory.Bytes()[at:][:length]
	binary.BigEndian.PutUint64(message, e.told)
	binary.BigEndian.PutUint64(message[8:], number)
	fill(message[16:], int(number))
	return nil
}

// hear waits for messages, and takes them.
func (e *ringEnd) hear(ctx context.Context) error {
	var in [buffers]rdma.Received
	n, err := e.recvs.Wait(ctx, in[:])
	if err != nil {
		return err
	}
	for i := range in[:n] {
		m := &in[i]
		if err := m.WC.Err(); err != nil {
			return err
		}
		if len(m.Data) != length {
			return fmt.Errorf("a message of %d bytes", len(m.Data))
		}
		e.sends.SetLimit(binary.BigEndian.Uint64(m.Data))
		number := binary.BigEndian.Uint64(m.Data[8:])
		var want [length - 16]byte
		if fill(want[:], int(number)); string(want[:]) != string(m.Data[16:]) {
			return fmt.Errorf("message %d is not what was sent", number)
		}
		if number == 0 {
			continue
		}
		if e.received++; number != e.received {
			return fmt.Errorf("message %d in place of %d", number, e.received)
		}
	}
	return errors.Join(e.recvs.Release(in[:n]...), e.recvs.Flush())
}

// exchange sends and receives so many messages. An end keeps a credit for
// telling of posted buffers, so that both never wait for each other, and one more for
// what comes then.
func (e *ringEnd) exchange(ctx context.Context, count uint64) error {
	if !e.first && e.received == 0 {
		if err := e.hear(ctx); err != nil {
			return err
		}
	}
	for e.sent < count || e.received < count {
		var err error
		for err == nil && e.sent < count && e.sends.Credit() > 2 {
			if err = e.say(e.sent + 1); err == nil {
				e.sent++
			}
		}
		if err == nil && e.recvs.Posted()-e.told >= buffers/2 && e.sends.Credit() > 1 {
			err = e.say(0)
		}
		if err := e.sends.Post(); err != nil {
			return err
		}
		switch {
		case errors.Is(err, rdma.ErrRingFull):
			_, err = e.sends.Wait(ctx)
		case err == nil && (e.received < count || e.sent < count):
			err = e.hear(ctx)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// both has both ends do something at the same time.
func both(t *testing.T, active, passive *ringEnd, do func(e *ringEnd) error) {
	t.Helper()
	failed := make(chan error, 1)
	go func() { failed <- do(passive) }()
	require.NoError(t, do(active))
	require.NoError(t, <-failed)
}

// add adds to the send ring, and posts it. Where that is full, it waits.
func (e *ringEnd) add(ctx context.Context, one func() error) error {
	for {
		err := one()
		if err == nil || !errors.Is(err, rdma.ErrRingFull) {
			return errors.Join(err, e.sends.Post())
		}
		if _, err := e.sends.Wait(ctx); err != nil {
			return err
		}
	}
}

// write writes into the peer's memory, and sends a message behind it, without which
// nothing would say that the write has come.
func (e *ringEnd) write(ctx context.Context, seed int) error {
	const part = depth * length
	to, err := e.peer.Slice(length, part-length)
	if err != nil {
		return err
	}
	fill(e.memory.Bytes()[part:2*part], seed)
	if err := e.add(ctx, func() error {
		_, err := e.sends.AddRDMA(ibv.WRRDMAWrite, ibv.SendSignaled, to, e.memory.SGE(part, part-length))
		return err
	}); err != nil {
		return err
	}
	e.added++
	e.sent++
	return e.add(ctx, func() error { return e.say(e.sent) })
}

// written waits for the message behind a write, and looks at what was written.
func (e *ringEnd) written(ctx context.Context, seed int) error {
	for before := e.received; e.received == before; {
		if err := e.hear(ctx); err != nil {
			return err
		}
	}
	const part = depth * length
	want := make([]byte, part)
	fill(want[length:], seed)
	if got := e.memory.Bytes()[2*part:]; !bytes.Equal(want, got) {
		return fmt.Errorf("%x was written in place of %x", got, want)
	}
	return nil
}

// Rings on queue pairs that librdmacm connects: messages go both ways under credits,
// while whoever has nothing to do waits; then each writes into the other's memory.
func TestRings(t *testing.T) {
	const messages = 2000
	for name, kind := range map[string]struct {
		queues queues
		makeQP func(e *ringEnd) *rdma.QP
	}{
		"own queues":           {ownQueues, theirs},
		"adopted queues":       {adoptedQueues, theirs},
		"shared receive queue": {ownQueues, shared},
	} {
		t.Run(name, func(t *testing.T) {
			active, passive := meet(t, kind.queues, kind.makeQP)
			ctx := deadline(t)
			both(t, active, passive, func(e *ringEnd) error { return e.exchange(ctx, messages) })
			require.NoError(t, active.write(ctx, 1))
			require.NoError(t, passive.written(ctx, 1))
			require.NoError(t, passive.write(ctx, 2))
			require.NoError(t, active.written(ctx, 2))
		})
	}
}
