//go:build unix

package rdma

import (
	"os"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// fakeChannel is a completion channel as the kernel has it: each request of a queue
// leads to one event, of what comes after it. Its file is a pipe with a byte for each
// event, so the runtime's poller is the real one.
type fakeChannel struct {
	t         testing.TB
	read      int // the pipe's end
	write     *os.File
	mu        sync.Mutex
	acked     sync.Cond
	events    []*fakeCQ
	calls     int   // of get
	broken    error // what get returns
	destroyed bool
	*channel
}

// fakeCQ is a completion queue of it.
type fakeCQ struct {
	*waiters
	channel     *fakeChannel
	c           *ibv.CQ // an address that tells it apart
	completions []uint64
	armed       bool
	got, acked  int
	destroyed   bool
	refuse      error // of destroy
	fail        error // of poll and arm
	refuseArm   error
	late        func() // at the beginning of destroy
	full        bool   // a completion comes whenever there is none
}

func newFakeChannel(t testing.TB) *fakeChannel {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	f := &fakeChannel{t: t, write: write}
	f.acked.L = &f.mu
	conn, err := read.SyscallConn()
	require.NoError(t, err)
	require.NoError(t, conn.Control(func(fd uintptr) { f.read = int(fd) }))
	signal, err := newWatchedFile(read)
	require.NoError(t, err)
	f.channel = readEvents(nil, signal, f)
	t.Cleanup(func() {
		f.mu.Lock()
		done := f.destroyed
		f.mu.Unlock()
		if !done {
			require.NoError(t, f.close())
		}
		write.Close()
	})
	return f
}

// close closes the channel.
func (f *fakeChannel) close() error {
	return f.channel.end(func() error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.destroyed = true
		return nil
	})
}

func (f *fakeChannel) get() (*ibv.CQ, uintptr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	require.False(f.t, f.destroyed, "an event was asked for after destroy")
	if f.broken != nil {
		return nil, 0, f.broken
	}
	var b [1]byte
	if len(f.events) == 0 {
		return nil, 0, syscall.EAGAIN
	}
	n, err := syscall.Read(f.read, b[:])
	require.NoError(f.t, err)
	require.Equal(f.t, 1, n)
	q := f.events[0]
	f.events = f.events[1:]
	q.got++
	number := uintptr(q.l.number)
	if q.adopted {
		number = 1 // as others have
	}
	return q.c, number, nil
}

func (f *fakeChannel) ack(cq *ibv.CQ, n uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	q := f.queue(cq)
	q.acked += int(n)
	require.LessOrEqual(f.t, q.acked, q.got)
	f.acked.Broadcast()
}

// queues is all of them by address, for ack.
var queues sync.Map

func (f *fakeChannel) queue(cq *ibv.CQ) *fakeCQ {
	q, ok := queues.Load(cq)
	require.True(f.t, ok)
	return q.(*fakeCQ)
}

// newCQ is a queue on the channel.
func (f *fakeChannel) newCQ(adopted bool, spin time.Duration) *fakeCQ {
	l, err := begin("fake queue")
	require.NoError(f.t, err)
	q := &fakeCQ{channel: f, c: new(ibv.CQ)}
	q.waiters = newWaiters(q.c, l, ibv.NewPoller(q.poll), spin)
	q.waiters.arm = q.request
	q.waiters.adopted = adopted
	queues.Store(q.c, q)
	f.channel.add(q.waiters)
	return q
}

// handle is the handle of it, as far as Wait needs it.
func (q *fakeCQ) handle() *CQ { return &CQ{l: q.l, waiters: q.waiters} }

func (q *fakeCQ) poll(wcs []ibv.WC) (int, error) {
	q.channel.mu.Lock()
	defer q.channel.mu.Unlock()
	require.False(q.channel.t, q.destroyed, "it was polled after destroy")
	if q.fail != nil {
		return 0, q.fail
	}
	n := min(len(wcs), len(q.completions))
	for i, id := range q.completions[:n] {
		wcs[i].WRID = id
	}
	q.completions = slices.Delete(q.completions, 0, n)
	if n > 0 {
		q.fill()
	}
	return n, nil
}

// keepFull has a completion come whenever there is none.
func (q *fakeCQ) keepFull(on bool) {
	q.channel.mu.Lock()
	defer q.channel.mu.Unlock()
	q.full = on
	q.fill()
}

func (q *fakeCQ) fill() {
	if q.full && len(q.completions) == 0 {
		q.add(0)
	}
}

func (q *fakeCQ) request() error {
	q.channel.mu.Lock()
	defer q.channel.mu.Unlock()
	require.False(q.channel.t, q.destroyed, "an event was requested after destroy")
	if q.refuseArm != nil {
		return q.refuseArm
	}
	q.armed = true
	return q.fail
}

// complete has completions come.
func (q *fakeCQ) complete(ids ...uint64) {
	q.channel.mu.Lock()
	defer q.channel.mu.Unlock()
	q.add(ids...)
}

func (q *fakeCQ) add(ids ...uint64) {
	if q.destroyed {
		return
	}
	q.completions = append(q.completions, ids...)
	if q.armed && len(ids) > 0 {
		q.armed = false
		q.channel.event(q)
	}
}

// event has an event come. The caller has the lock.
func (f *fakeChannel) event(q *fakeCQ) {
	f.events = append(f.events, q)
	_, err := f.write.Write([]byte{0})
	require.NoError(f.t, err)
}

// close closes the queue as the handle does. C waits until its events are
// acknowledged.
func (q *fakeCQ) close() error {
	f := q.channel
	return q.waiters.end(f.channel, func() error {
		if q.late != nil {
			q.late()
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if q.refuse != nil {
			return q.refuse
		}
		q.destroyed = true
		all := len(f.events)
		f.events = slices.DeleteFunc(f.events, func(of *fakeCQ) bool { return of == q })
		for range all - len(f.events) {
			_, err := syscall.Read(f.read, make([]byte, 1))
			require.NoError(f.t, err)
		}
		for q.acked < q.got {
			f.acked.Wait()
		}
		queues.Delete(q.c)
		return nil
	})
}
