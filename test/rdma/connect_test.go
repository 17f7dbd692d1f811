//go:build device && linux

package rdma

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Both ends learn the same of each other, and agree on what both can do.
func TestConnectAgrees(t *testing.T) {
	r := newRig(t)
	for _, typ := range []ibv.QPType{ibv.QPTRC, ibv.QPTUC, ibv.QPTUD} {
		a, b := r.end(rdma.QPOptions{Type: typ}), r.end(rdma.QPOptions{Type: typ, QKey: 0x77})
		ready := false
		atA, atB := r.connectWith(a.QP, b.QP,
			rdma.ConnectOptions{Data: []byte("from a"), Reads: 4, Ready: func() error { ready = true; return nil }},
			rdma.ConnectOptions{Data: []byte("from b"), MTU: ibv.MTU256, GID: rdma.GIDChoice{Interface: "rx0", Type: ibv.GIDTypeRoCEV2}})
		require.True(t, ready)
		require.Equal(t, "from b", string(atA.Data))
		require.Equal(t, "from a", string(atB.Data))
		require.Equal(t, b.Number(), atA.Peer.QPNum)
		require.Equal(t, a.Number(), atB.Peer.QPNum)
		require.Equal(t, r.gid.GID, atA.Peer.GID)
		require.Equal(t, ibv.MTU256, atA.Path.MTU)
		require.Equal(t, ibv.MTU256, atB.Path.MTU)
		for _, e := range []end{a, b} {
			state, err := e.State()
			require.NoError(t, err)
			require.Equal(t, ibv.QPSRTS, state)
		}
		if typ == ibv.QPTUD {
			require.EqualValues(t, 0x77, atA.QKey)
			require.EqualValues(t, rdma.DefaultQKey, atB.QKey)
			require.NoError(t, atA.AH.Close())
			require.NoError(t, atB.AH.Close())
			continue
		}
		require.Nil(t, atA.AH)
		require.Equal(t, access, atA.Access)
		require.Equal(t, []int{4, 4, 4, 4}, []int{atA.Reads, atA.PeerReads, atB.Reads, atB.PeerReads})
		attr, _, err := a.Query(ibv.QPAttrMaskPathMTU | ibv.QPAttrMaskRQPSN | ibv.QPAttrMaskMaxQPRdAtomic | ibv.QPAttrMaskMaxDestRdAtomic)
		require.NoError(t, err)
		require.Equal(t, ibv.MTU256, attr.PathMTU)
		require.Equal(t, atA.Peer.PSN, attr.RQPSN)
		if typ == ibv.QPTRC {
			require.EqualValues(t, 4, attr.MaxRdAtomic)
			require.EqualValues(t, 4, attr.MaxDestRdAtomic)
		}
		require.NotEqual(t, atA.Peer.PSN, atB.Peer.PSN)
	}
}

// A UD queue pair has as many peers as it is connected to, and sends reach each.
func TestConnectUDToMany(t *testing.T) {
	const size = 50
	r := newRig(t)
	hub := r.end(rdma.QPOptions{Type: ibv.QPTUD})
	from := r.region(size)
	for range 3 {
		peer := r.end(rdma.QPOptions{Type: ibv.QPTUD, QKey: 0x99})
		_, err := peer.PostRecv(r.recvChain(1, r.region(size+ibv.GRHLength), size+ibv.GRHLength))
		require.NoError(t, err)
		at, _ := r.connect(hub.QP, peer.QP)
		sends, err := ibv.NewSendChain(1, 1)
		require.NoError(t, err)
		require.NoError(t, sends.SetUD(0, 1, ibv.WRSend, ibv.SendSignaled, from.Raw().SGE(0, size), at.AH.Raw(), at.Peer.QPNum, at.QKey))
		_, err = hub.PostSend(sends)
		require.NoError(t, err)
		r.poll(hub.send, 1)
		require.EqualValues(t, size+ibv.GRHLength, r.poll(peer.recv, 1)[0].ByteLen)
	}
}

// What cannot be connected says why, and is in the state that is promised.
func TestConnectFails(t *testing.T) {
	r := newRig(t)
	state := func(e end, want ibv.QPState) {
		t.Helper()
		got, err := e.State()
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	with := func(e end, opts rdma.ConnectOptions, peer func(net.Conn)) error {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		conn, other := net.Pipe()
		done := make(chan struct{})
		go func() { defer close(done); peer(other) }()
		_, err := e.Connect(ctx, conn, opts)
		conn.Close()
		<-done
		return err
	}
	closes := func(c net.Conn) { c.Close() }
	a, b := r.end(rdma.QPOptions{}), r.end(rdma.QPOptions{Type: ibv.QPTUC})

	reason := errors.New("the program is not ready")
	for want, opts := range map[error]rdma.ConnectOptions{
		reason:                {Ready: func() error { return reason }},
		syscall.EINVAL:        {MTU: ibv.MTU4096},
		syscall.EADDRNOTAVAIL: {GID: rdma.GIDChoice{Interface: "eth99"}},
	} {
		require.ErrorIs(t, with(a, opts, closes), want)
		state(a, ibv.QPSInit)
	}
	require.ErrorContains(t, with(a, rdma.ConnectOptions{GID: rdma.GIDChoice{Port: 2}}, closes), "see QPOptions.Port")
	require.ErrorContains(t, with(a, rdma.ConnectOptions{}, closes), "closed the connection")
	require.ErrorIs(t, with(a, rdma.ConnectOptions{}, func(c net.Conn) { _, _ = c.Write([]byte("GET /")) }), syscall.EPROTO)
	err := with(a, rdma.ConnectOptions{}, func(c net.Conn) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		_, err := b.Connect(ctx, c, rdma.ConnectOptions{})
		require.ErrorContains(t, err, "type RC")
	})
	require.ErrorContains(t, err, "type UC")
	state(a, ibv.QPSInit)
	state(b, ibv.QPSInit)

	// It is connected all the same, and not twice.
	c := r.end(rdma.QPOptions{})
	r.connect(a.QP, c.QP)
	require.ErrorIs(t, with(a, rdma.ConnectOptions{}, closes), syscall.EISCONN)
	state(a, ibv.QPSRTS)
	require.NoError(t, a.ToReset())
	require.NoError(t, c.ToReset())
	r.connect(a.QP, c.QP) // from RESET
	state(a, ibv.QPSRTS)

	d := r.end(rdma.QPOptions{})
	_, err = d.Connect(t.Context(), (*net.TCPConn)(nil), rdma.ConnectOptions{})
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "conn is nil")

	// Close ends a Connect that waits.
	err = with(d, rdma.ConnectOptions{Ready: func() error {
		time.AfterFunc(50*time.Millisecond, func() { _ = d.Close() })
		return nil
	}}, func(net.Conn) {})
	require.ErrorIs(t, err, rdma.ErrClosed)
	_, err = d.Connect(t.Context(), nil, rdma.ConnectOptions{})
	require.ErrorIs(t, err, rdma.ErrClosed)
}

// A queue pair that cannot be moved to INIT is not left behind.
func TestCreateQPOnAWrongPort(t *testing.T) {
	r := newRig(t)
	cq := r.cq(128)
	for text, opts := range map[string]rdma.QPOptions{
		"PortNum is 2":         {Port: 2},
		"there is no port 256": {Port: 256},
	} {
		opts.SendCQ, opts.RecvCQ = cq, cq
		_, err := r.pd.CreateQP(opts)
		require.ErrorIs(t, err, syscall.EINVAL)
		require.ErrorContains(t, err, text)
		require.ErrorContains(t, err, "QPOptions")
	}
	require.NoError(t, cq.Close(), "nothing uses it")
}

// Two processes connect over a socket and send to each other. Then one is killed,
// and the other notices by the defaults.
func TestConnectTwoProcesses(t *testing.T) {
	const role, size = "GOVERBS_TEST_CONNECT", 100
	r := newRig(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e := r.end(rdma.QPOptions{})
	in := r.region(size)
	_, err := e.PostRecv(r.recvChain(1, in, size))
	require.NoError(t, err)
	out := r.region(size)
	sends := r.sendChain(1, out, size)
	send := func(text string) {
		copy(out.Raw().Bytes(), text)
		_, err := e.PostSend(sends)
		require.NoError(t, err)
	}

	if socket := os.Getenv(role); socket != "" {
		conn, err := net.Dial("unix", socket)
		require.NoError(t, err)
		_, err = e.Connect(ctx, conn, rdma.ConnectOptions{})
		require.NoError(t, err)
		r.poll(e.recv, 1)
		send(strings.ToUpper(string(in.Raw().Bytes()[:5])))
		r.poll(e.send, 1)
		_, _ = conn.Write([]byte("done\n"))
		select {} // until it is killed
	}
	peer, conn := startPeer(ctx, t, role)
	defer conn.Close()
	_, err = e.Connect(ctx, conn, rdma.ConnectOptions{})
	require.NoError(t, err)
	send("hello")
	r.poll(e.send, 1)
	r.poll(e.recv, 1)
	require.Equal(t, "HELLO", string(in.Raw().Bytes()[:5]))
	said := bufio.NewReader(conn)
	line, err := said.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "done\n", line)

	require.NoError(t, peer.Process.Kill())
	_ = peer.Wait()
	_, err = said.ReadByte()
	require.Error(t, err, "the stream ends with the process")
	start := time.Now()
	send("anybody there?")
	require.Equal(t, ibv.WCRetryExcErr, r.pollAny(e.send, 1)[0].Status)
	t.Logf("a dead peer is noticed after %v", time.Since(start))
}
