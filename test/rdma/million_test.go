//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// million is how many messages the tests here exchange in all; see effort for what
// becomes of it with -short.
const million = 1_000_000

// has is what the process and the kernel have.
type has struct {
	goroutines, files, threads, kilobytes int
	resources
}

func (r *rig) has() (h has) {
	r.t.Helper()
	h.goroutines, h.files, h.kilobytes = process(r.t)
	h.threads, h.resources = threads(r.t), kernelHas(r.t, deviceName)
	return h
}

// requireFlat checks that what there is has not grown.
func requireFlat(t *testing.T, first, last has) {
	t.Helper()
	t.Logf("first %+v, last %+v", first, last)
	require.LessOrEqual(t, last.goroutines, first.goroutines)
	require.LessOrEqual(t, last.files, first.files)
	require.LessOrEqual(t, last.threads, first.threads+4, "Go's runtime starts one when it likes")
	require.Less(t, last.kilobytes, first.kilobytes+8<<10)
	require.Equal(t, first.resources, last.resources)
}

// stressCollector has the collector run all the time, until stop.
func stressCollector() (stop func()) {
	percent := debug.SetGCPercent(1)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			runtime.GC()
		}
	})
	return func() {
		cancel()
		all.Wait()
		debug.SetGCPercent(percent)
	}
}

// both runs the two ends of a connection at once.
func both(t *testing.T, a, b *talker, run func(*talker) error) {
	t.Helper()
	failed := make(chan error, 1)
	go func() { failed <- run(b) }()
	require.NoError(t, run(a))
	require.NoError(t, <-failed)
}

// A million messages go to and fro, waited for, in rings and within credits. None is
// lost, changed or out of order, none has to wait for a receive, and nothing grows. Most
// of the time all is as usual; for a tenth, the collector runs all the time.
func TestMillionMessages(t *testing.T) {
	const stressed = 5 // of the tenths
	messages := effort(t, million)
	r := newRig(t)
	var a, b *talker
	for _, talker := range []**talker{&a, &b} {
		var err error
		*talker, err = newTalker(r.pd, nil, 256)
		require.NoError(t, err)
	}
	r.connectTalkers(a, b)
	waited := toldToWait(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	var first, last has
	for tenth := 1; tenth <= 10; tenth++ {
		stop := func() {}
		if tenth == stressed {
			stop = stressCollector()
		}
		begin := time.Now()
		both(t, a, b, func(end *talker) error { return end.talk(ctx, uint64(messages/20*tenth)) })
		t.Logf("tenth %d took %v", tenth, time.Since(begin))
		stop()
		switch last = r.has(); tenth {
		case 1:
			first = last
		case 10:
			requireFlat(t, first, last)
		}
	}
	require.Equal(t, waited, toldToWait(t), "nobody sends without a credit")
	for _, talker := range []*talker{a, b} {
		require.NoError(t, talker.close(true))
	}
}

// connectTalkers connects two talkers of this process.
func (r *rig) connectTalkers(a, b *talker) {
	r.t.Helper()
	here, there := streams(r.t, false)
	defer here.Close()
	conn, err := netConn(there)
	require.NoError(r.t, err)
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	both(r.t, a, b, func(end *talker) error {
		if end == a {
			return a.connect(ctx, here, rdma.ConnectOptions{})
		}
		return b.connect(ctx, conn, rdma.ConnectOptions{})
	})
}

// Two hundred queue pairs talk, on four completion queues that four goroutines wait for.
func TestManyQueuePairsOnFewQueues(t *testing.T) {
	const queues, depth = 4, 8
	queuePairs := effort(t, 200) / 2 * 2
	messages := uint64(effort(t, million/5) / queuePairs)
	r := newRig(t)
	base := r.has()
	var servers [queues]server
	for i := range servers {
		servers[i] = server{cq: r.cq(4 * depth * (queuePairs/queues + 1))}
	}
	var last *talker
	for i := range queuePairs {
		s := &servers[i%queues]
		talker, err := newTalker(r.pd, s.cq, depth)
		require.NoError(t, err)
		require.NoError(t, s.add(talker))
		if i%2 == 1 {
			r.connectTalkers(last, talker)
		}
		last = talker
	}
	waited := toldToWait(t)
	ctx, cancel := context.WithTimeout(context.Background(), 5*patience)
	defer cancel()
	serve := func(target uint64) {
		failed := make(chan error, queues)
		for i := range servers {
			go func() { failed <- servers[i].serve(ctx, target) }()
		}
		for range servers {
			require.NoError(t, <-failed)
		}
	}
	serve(messages / 10)
	first := r.has()
	require.LessOrEqual(t, first.goroutines, base.goroutines+1, "the device's channel has one")
	begin := time.Now()
	serve(messages)
	t.Logf("%d messages of each of %d queue pairs took %v", messages-messages/10, queuePairs, time.Since(begin))
	requireFlat(t, first, r.has())
	require.Equal(t, waited, toldToWait(t))
	require.NoError(t, r.pd.CloseAll())
	for i := range servers {
		require.NoError(t, servers[i].cq.Close())
	}
}

// server is what a goroutine does that serves many connections.
type server struct {
	cq    *rdma.CQ
	rings rdma.Rings[*talker]
	all   []*talker
}

func (s *server) add(t *talker) error {
	s.all = append(s.all, t)
	return errors.Join(s.rings.Add(t.sends, t), s.rings.Add(t.recvs, t))
}

// serve has each of the connections send and receive so many messages.
func (s *server) serve(ctx context.Context, messages uint64) error {
	talking := map[*talker]struct{}{}
	touched := map[*talker]struct{}{}
	for _, t := range s.all {
		talking[t], touched[t] = struct{}{}, struct{}{}
	}
	wcs := make([]ibv.WC, 64)
	for {
		for t := range touched {
			if err := t.say(messages); err != nil {
				return err
			}
			if t.finished(messages) {
				delete(talking, t)
			}
		}
		if len(talking) == 0 {
			return nil
		}
		clear(touched)
		n, err := s.cq.Wait(ctx, wcs)
		if err != nil {
			return err
		}
		for i := range wcs[:n] {
			_, t := s.rings.Of(&wcs[i])
			if t == nil {
				return fmt.Errorf("a completion that is nobody's: %v", wcs[i])
			}
			if own, err := t.handle(&wcs[i]); !own || err != nil {
				return fmt.Errorf("a completion: its ring's: %t, %w", own, err)
			}
			touched[t] = struct{}{}
		}
	}
}
