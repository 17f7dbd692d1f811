//go:build device && linux

package rdma

import (
	"net"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// watchedPair is two connected ends that watch the streams between them.
func (r *rig) watchedPair(typ ibv.QPType, a, b end) (connA, connB net.Conn, atA *rdma.Connection) {
	ctx, cancel := waiting(r.t)
	defer cancel()
	connA, connB = net.Pipe()
	failed := make(chan error, 1)
	go func() {
		_, err := b.Connect(ctx, connB, rdma.ConnectOptions{Watch: true})
		failed <- err
	}()
	atA, err := a.Connect(ctx, connA, rdma.ConnectOptions{Watch: true})
	require.NoError(r.t, err)
	require.NoError(r.t, <-failed)
	return connA, connB, atA
}

// Who only receives is told that the peer has ended, after the messages that came
// before.
func TestWatchTellsWhoReceives(t *testing.T) {
	const size = 64
	r := newRig(t)
	_ = r.cq(1) // the device's channel has a goroutine of its own
	goroutines, _, _ := process(t)
	for _, typ := range []ibv.QPType{ibv.QPTRC, ibv.QPTUC} {
		for name, finish := range map[string]func(peer end, conn net.Conn){
			"close":    func(peer end, _ net.Conn) { require.NoError(t, peer.Close()) },
			"reset":    func(peer end, _ net.Conn) { require.NoError(t, peer.ToReset()) },
			"the conn": func(_ end, conn net.Conn) { require.NoError(t, conn.Close()) },
			"a byte": func(_ end, conn net.Conn) {
				_, err := conn.Write([]byte{7})
				require.NoError(t, err)
			},
		} {
			a, b := r.end(rdma.QPOptions{Type: typ}), r.end(rdma.QPOptions{Type: typ})
			_, err := a.PostRecv(r.recvChain(4, r.region(4*size), size))
			require.NoError(t, err)
			_, conn, at := r.watchedPair(typ, a, b)
			_, err = b.PostSend(r.sendChain(2, r.region(2*size), size))
			require.NoError(t, err)
			r.poll(b.send, 2)
			var got []ibv.WCStatus
			for _, wc := range r.poll(a.recv, 1) { // the other one stays for afterwards
				got = append(got, wc.Status)
			}
			finish(b, conn)
			ctx, cancel := waiting(t)
			wcs := make([]ibv.WC, 4)
			for len(got) < 4 {
				n, err := a.recv.Wait(ctx, wcs)
				require.NoError(t, err, "%v, %s: %v", typ, name, got)
				for _, wc := range wcs[:n] {
					got = append(got, wc.Status)
				}
			}
			cancel()
			require.Equal(t, []ibv.WCStatus{ibv.WCSuccess, ibv.WCSuccess, ibv.WCWRFlushErr, ibv.WCWRFlushErr}, got, "%v, %s", typ, name)
			<-at.Ended
			state, err := a.State()
			require.NoError(t, err)
			require.Equal(t, ibv.QPSErr, state)
			require.NoError(t, a.Close())
			if name != "close" {
				require.NoError(t, b.Close())
			}
		}
	}
	after, _, _ := process(t)
	require.LessOrEqual(t, after, goroutines)
}

// A queue pair that goes back to RESET has another peer afterwards, whose stream it
// watches; the old one has no effect any more.
func TestWatchBeginsAnew(t *testing.T) {
	r := newRig(t)
	a, b := r.end(rdma.QPOptions{}), r.end(rdma.QPOptions{})
	for range 20 {
		_, _, at := r.watchedPair(ibv.QPTRC, a, b)
		require.NoError(t, a.ToReset())
		<-at.Ended
		state, err := a.State()
		require.NoError(t, err)
		require.Equal(t, ibv.QPSReset, state)
		require.NoError(t, b.ToReset())
	}
}

// A UD queue pair has other peers, and stays.
func TestWatchUD(t *testing.T) {
	r := newRig(t)
	a, b := r.end(rdma.QPOptions{Type: ibv.QPTUD}), r.end(rdma.QPOptions{Type: ibv.QPTUD})
	_, _, at := r.watchedPair(ibv.QPTUD, a, b)
	require.NoError(t, b.Close())
	<-at.Ended
	state, err := a.State()
	require.NoError(t, err)
	require.Equal(t, ibv.QPSRTS, state)
	c := r.end(rdma.QPOptions{Type: ibv.QPTUD})
	_, connC, atC := r.watchedPair(ibv.QPTUD, a, c)
	require.NoError(t, a.Close())
	<-atC.Ended
	_, err = connC.Write([]byte{1})
	require.Error(t, err, "the peer's end is closed, too")
}

// Both ends close at the same time, while streams end and queue pairs are moved.
func TestWatchWhileClosing(t *testing.T) {
	r := newRig(t)
	_ = r.cq(1) // the device's channel has a goroutine of its own
	goroutines, open, _ := process(t)
	for range effort(t, 200) {
		a, b := r.end(rdma.QPOptions{}), r.end(rdma.QPOptions{})
		connA, connB, at := r.watchedPair(ibv.QPTRC, a, b)
		var group sync.WaitGroup
		group.Go(func() { require.NoError(t, a.Close()) })
		group.Go(func() { require.NoError(t, b.Close()) })
		group.Go(func() { _ = a.ToErr() })
		group.Go(func() { _ = connA.Close(); _ = connB.Close() })
		group.Wait()
		<-at.Ended
		for _, cq := range []*rdma.CQ{a.send, a.recv, b.send, b.recv} {
			require.NoError(t, cq.Close())
		}
	}
	g, o, _ := process(t)
	require.LessOrEqual(t, g, goroutines)
	require.LessOrEqual(t, o, open)
}

// Who waits for a message of a process that is killed is told at once, without sending
// anything.
func TestWatchAProcessThatIsKilled(t *testing.T) {
	const role = "GOVERBS_TEST_WATCH"
	r := newRig(t)
	ctx, cancel := waiting(t)
	defer cancel()
	e := r.end(rdma.QPOptions{})
	if address := os.Getenv(role); address != "" {
		conn, err := net.Dial("unix", address)
		require.NoError(t, err)
		_, err = e.Connect(ctx, conn, rdma.ConnectOptions{Watch: true})
		require.NoError(t, err)
		_, err = e.PostSend(r.sendChain(1, r.region(8), 8))
		require.NoError(t, err)
		select {} // until it is killed
	}
	_, err := e.PostRecv(r.recvChain(2, r.region(16), 8))
	require.NoError(t, err)
	peer, conn := startPeer(ctx, t, role)
	_, err = e.Connect(ctx, conn, rdma.ConnectOptions{Watch: true})
	require.NoError(t, err)
	wcs := make([]ibv.WC, 1)
	_, err = e.recv.Wait(ctx, wcs)
	require.NoError(t, err)
	require.NoError(t, wcs[0].Err())
	start := time.Now()
	require.NoError(t, peer.Process.Kill())
	_, err = e.recv.Wait(ctx, wcs)
	require.NoError(t, err)
	require.Equal(t, ibv.WCWRFlushErr, wcs[0].Status)
	t.Logf("who only receives is told after %v", time.Since(start))
	_ = peer.Wait()
}
