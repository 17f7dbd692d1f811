package rdma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// grace is how long a peer is waited for that has been refused, or that has closed
// its end, so that reasons arrive.
const grace = time.Second

// past is a deadline that is over.
var past = time.Unix(1, 0)

// talk is a connection whose deadlines are those of a context.
type talk struct {
	conn     net.Conn
	deadline time.Time // of the context, or zero

	mu   sync.Mutex
	over bool // the context has ended, or the talk
}

// stop ends reads and writes at once.
func (t *talk) stop() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.over {
		t.over = true
		_ = t.conn.SetDeadline(past)
	}
}

// finish leaves the connection without deadlines.
func (t *talk) finish() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	_ = t.conn.SetDeadline(time.Time{})
}

// by sets one of the deadlines, within the context's.
func (t *talk) by(deadline time.Time, set func(time.Time) error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.deadline.IsZero() && deadline.After(t.deadline) {
		deadline = t.deadline
	}
	if !t.over {
		_ = set(deadline)
	}
}

// shake has the two ends of a connection tell each other their hellos. up brings the
// queue pair to RTS, or says why not, which the peer is told. shake returns without an
// error when both ends are there. However it ends, conn has no deadlines then, nothing
// still runs, and no more has been read than the peer has written for it.
func shake(ctx context.Context, conn net.Conn, mine *hello, up func(peer *hello) error) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	t := &talk{conn: conn}
	t.deadline, _ = ctx.Deadline()
	err := conn.SetDeadline(t.deadline)
	closed := errors.Is(err, io.ErrClosedPipe) || errors.Is(err, net.ErrClosed) // which a read tells
	if err != nil && !closed && ctx.Done() != nil {
		return fmt.Errorf("the connection has no deadlines, which the context needs: %w", err)
	}
	defer t.finish()
	defer context.AfterFunc(ctx, t.stop)()

	err = t.shake(mine, up)
	switch {
	case err == nil:
		return nil // the peer counts on it, even if the context has ended just now
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded) && !t.deadline.IsZero() && !time.Now().Before(t.deadline):
		return atDeadline(ctx)
	}
	return err
}

// atDeadline is why a context has ended whose deadline is over: conn's clock was first,
// and the context's own timer knows the cause.
func atDeadline(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(grace): // somebody's own context
		return context.DeadlineExceeded
	}
}

func (t *talk) shake(mine *hello, up func(peer *hello) error) error {
	body, err := t.exchange(appendFrame(nil, frameHello, mine.body()), frameHello)
	if err == nil {
		var peer *hello
		if peer, err = parseHello(body); err == nil {
			err = up(peer)
		}
		if err != nil {
			t.refuse(err)
			return err
		}
		_, err = t.exchange(appendFrame(nil, frameReady, nil), frameReady)
		return err
	}
	if isOurs(err) {
		t.refuse(err)
	}
	return err
}

// isOurs reports whether the error of a read leaves a peer that would understand a
// refusal.
func isOurs(err error) bool {
	var refused *refusedError
	return errors.Is(err, syscall.EPROTO) && !errors.Is(err, errNotOurs) && !errors.As(err, &refused)
}

// exchange writes a frame and reads one. It does both at once, because a stream may
// have no buffer.
func (t *talk) exchange(frame []byte, want frameKind) (body []byte, err error) {
	written := make(chan error, 1)
	go func() {
		_, err := t.conn.Write(frame)
		if err != nil {
			// The peer may have said why, before it closed its end.
			t.by(time.Now().Add(grace), t.conn.SetReadDeadline)
		}
		written <- err
	}()
	body, err = readFrame(t.conn, want)
	switch {
	case err == nil:
	case isOurs(err): // a refusal can follow a whole frame only
		t.by(time.Now().Add(grace), t.conn.SetWriteDeadline)
	default:
		t.by(past, t.conn.SetWriteDeadline)
	}
	werr := <-written
	switch {
	case werr == nil:
		return body, err
	case err == nil, errors.Is(err, os.ErrDeadlineExceeded) && !errors.Is(werr, os.ErrDeadlineExceeded):
		return nil, werr
	}
	return nil, err
}

// refuse tells the peer why, if it listens. The peer may be writing at the same time,
// a refusal of its own perhaps, and a stream without a buffer needs somebody to read it.
func (t *talk) refuse(reason error) {
	t.by(time.Now().Add(grace), t.conn.SetDeadline)
	written := make(chan struct{})
	go func() {
		defer close(written)
		_, _ = t.conn.Write(appendRefusal(nil, reason.Error()))
		t.by(time.Now().Add(grace/20), t.conn.SetReadDeadline)
	}()
	_, _ = readFrame(t.conn, frameReady)
	<-written
}
