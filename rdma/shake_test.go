package rdma

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// anEnd is what an end on RoCE says, with data.
func anEnd(data string) *hello {
	h := &hello{
		typ: ibv.QPTRC, link: ibv.LinkLayerEthernet, mtu: ibv.MTU4096, kind: ibv.GIDTypeRoCEV2, reads: 16, asks: 16,
		access: ibv.AccessRemoteWrite, qkey: DefaultQKey,
		peer: Peer{QPNum: 0x11, PSN: 0x123456, GID: ibv.GIDOf(netip.MustParseAddr("192.0.2.1"))},
		data: []byte(data),
	}
	_, _ = rand.Read(h.nonce[:])
	return h
}

// outcome is how an end's part of a shake went.
type outcome struct {
	peer *hello // that it was brought up with
	err  error
}

// shakes is one end's part, where up agrees and moves nothing.
func shakes(ctx context.Context, conn net.Conn, mine *hello) (o outcome) {
	o.err = shake(ctx, conn, mine, func(peer *hello) error {
		_, err := mine.agree(peer)
		o.peer = peer
		return err
	})
	return o
}

// bothShake has two ends shake, which must end soon.
func bothShake(t *testing.T, ctxA, ctxB context.Context, connA, connB net.Conn, a, b *hello) (atA, atB outcome) {
	t.Helper()
	var wg sync.WaitGroup
	wg.Go(func() { atB = shakes(ctxB, connB, b) })
	atA = shakes(ctxA, connA, a)
	wg.Wait()
	return atA, atB
}

// streams are the kinds of connections that are tried.
var streams = map[string]func(t *testing.T) (a, b net.Conn){
	"pipe": func(t *testing.T) (a, b net.Conn) {
		a, b = net.Pipe()
		closeLater(t, a, b)
		return a, b
	},
	"tcp": func(t *testing.T) (a, b net.Conn) { return dialled(t, "tcp", "127.0.0.1:0") },
}

func dialled(t *testing.T, network, address string) (a, b net.Conn) {
	t.Helper()
	listener, err := net.Listen(network, address)
	require.NoError(t, err)
	defer listener.Close()
	a, err = net.Dial(network, listener.Addr().String())
	require.NoError(t, err)
	b, err = listener.Accept()
	require.NoError(t, err)
	closeLater(t, a, b)
	return a, b
}

func closeLater(t *testing.T, conns ...net.Conn) {
	t.Cleanup(func() {
		for _, c := range conns {
			c.Close()
		}
	})
}

// flat checks that there are as many goroutines after the test as before.
func flat(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; time.Sleep(time.Millisecond) {
			require.True(t, time.Now().Before(end), "%d goroutines in place of %d", runtime.NumGoroutine(), before)
		}
	})
}

// Both ends learn what the other says, and the stream is the program's again, with
// what follows in it.
func TestShake(t *testing.T) {
	for name, open := range streams {
		t.Run(name, func(t *testing.T) {
			flat(t)
			for _, size := range []int{0, 1, maxData} {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				connA, connB := open(t)
				a, b := anEnd(strings.Repeat("a", size)), anEnd("b")
				b.mtu, b.asks = ibv.MTU1024, 1
				watched := &watchedConn{Conn: connA}
				atA, atB := bothShake(t, ctx, ctx, watched, connB, a, b)
				require.NoError(t, atA.err)
				require.NoError(t, atB.err)
				require.Zero(t, watched.deadline)
				require.Equal(t, b, atA.peer)
				require.Equal(t, a, atB.peer)
				atEndA, err := a.agree(b)
				require.NoError(t, err)
				require.Equal(t, agreement{mtu: ibv.MTU1024, reads: 1, asks: 16, peer: b.peer}, atEndA)
				cancel() // which must not reach the stream any more
				go func() { _, _ = connA.Write([]byte("what follows")) }()
				follows := make([]byte, 12)
				_, err = io.ReadFull(connB, follows)
				require.NoError(t, err)
				require.Equal(t, "what follows", string(follows))
			}
		})
	}
}

// watchedConn knows the deadline that it was given last.
type watchedConn struct {
	net.Conn
	deadline time.Time
}

func (c *watchedConn) SetDeadline(t time.Time) error {
	c.deadline = t
	return c.Conn.SetDeadline(t)
}

// What follows at once, behind the last frame, is not read by the shake.
func TestShakeReadsNoByteTooMany(t *testing.T) {
	a, b := anEnd("a"), anEnd("b")
	conn, peer := streams["tcp"](t)
	said := appendFrame(appendFrame(nil, frameHello, b.body()), frameReady, nil)
	_, err := peer.Write(append(said, "follows"...))
	require.NoError(t, err)
	require.NoError(t, shakes(t.Context(), conn, a).err)
	follows := make([]byte, 7)
	_, err = io.ReadFull(conn, follows)
	require.NoError(t, err)
	require.Equal(t, "follows", string(follows))
}

// A peer that does not fit is refused at both ends, and each knows why.
func TestShakeRefuses(t *testing.T) {
	address := func(s string) ibv.GID { return ibv.GIDOf(netip.MustParseAddr(s)) }
	for name, tt := range map[string]struct {
		change func(h *hello)
		text   string
	}{
		"another type":       {func(h *hello) { h.typ = ibv.QPTUC }, "type UC"},
		"a type of no use":   {func(h *hello) { h.typ = ibv.QPTXRCSend }, "is not connected so"},
		"no type":            {func(h *hello) { h.typ = 77 }, "QPType(77)"},
		"InfiniBand":         {func(h *hello) { h.link, h.peer.LID = ibv.LinkLayerInfiniband, 5 }, "no switch"},
		"no link layer":      {func(h *hello) { h.link = 9 }, "link layer is 9"},
		"no MTU":             {func(h *hello) { h.mtu = 0 }, "MTU is 0"},
		"an MTU in bytes":    {func(h *hello) { h.mtu = 255 }, "MTU is 255"},
		"number of QP0":      {func(h *hello) { h.peer.QPNum = 0 }, "has the number 0"},
		"number of 25 bits":  {func(h *hello) { h.peer.QPNum = 1 << 24 }, "queue pair number is 0x1000000"},
		"PSN of 25 bits":     {func(h *hello) { h.peer.PSN = 1 << 24 }, "packet sequence number is 0x1000000"},
		"no GID":             {func(h *hello) { h.peer.GID = ibv.GID{} }, "GID is ::"},
		"GID of a group":     {func(h *hello) { h.peer.GID = address("ff02::1") }, "ff02::1"},
		"RoCE v1":            {func(h *hello) { h.kind = ibv.GIDTypeRoCEV1 }, "ROCE_V1"},
		"IPv6 beside IPv4":   {func(h *hello) { h.peer.GID = address("fe80::1") }, "the other is not"},
		"InfiniBand, no LID": {func(h *hello) { h.link = ibv.LinkLayerInfiniband }, "LID is 0x0"},
	} {
		for stream, open := range streams {
			t.Run(name+"/"+stream, func(t *testing.T) {
				flat(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				a, b := anEnd("a"), anEnd("b")
				tt.change(b)
				start := time.Now()
				connA, connB := open(t)
				atA, atB := bothShake(t, ctx, ctx, connA, connB, a, b)
				require.ErrorIs(t, atA.err, syscall.EPROTO)
				require.ErrorContains(t, atA.err, tt.text)
				if !errors.Is(atB.err, syscall.EPROTO) { // it may see the same itself
					require.ErrorIs(t, atB.err, syscall.ECONNREFUSED)
					require.ErrorContains(t, atB.err, tt.text)
				}
				require.Less(t, time.Since(start), 30*time.Second)
			})
		}
	}
}

// A peer that speaks something else is found out at its first wrong byte, though it
// waits for more, and one of another version is told.
func TestShakeWithStrangers(t *testing.T) {
	hello := appendFrame(nil, frameHello, anEnd("b").body())
	changed := func(at int, b ...byte) string {
		c := bytes.Clone(hello)
		copy(c[at:], b)
		return string(c)
	}
	long := make([]byte, 4)
	binary.BigEndian.PutUint32(long, maxFrame+1)
	for name, tt := range map[string]struct {
		says   string
		text   string
		isTold bool
	}{
		"HTTP server":      {"HTTP/1.1 400 Bad Request\r\n\r\n", "speaks HTTP", false},
		"HTTP client":      {"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "speaks HTTP", false},
		"TLS client":       {"\x16\x03\x01\x02\x00\x01", "speaks TLS", false},
		"TLS alert":        {"\x15\x03\x03\x00\x02\x02\x46", "speaks TLS", false},
		"SSH":              {"SSH-2.0-OpenSSH_9.2", "speaks SSH", false},
		"one byte":         {"x", "something else", false},
		"text mode":        {strings.Replace(changed(0), "\r\n", "\n", 1), "something else", false},
		"future version":   {changed(8, 0, 2), "speaks version 2", true},
		"no such kind":     {changed(10, 0, 9), "kind 9", true},
		"ready too early":  {changed(10, 0, 2), "kind 2", true},
		"too long":         {changed(12, long...), "announces 65605 bytes", true},
		"too short":        {changed(12, 0, 0, 0, 3), "has 3 bytes, and needs", true},
		"refusal of 1 MiB": {changed(10, 0, 3, 0, 0x10), "announces", true},
		"data that lies":   {changed(16+64, 0, 0, 0, 99), "announces 99 bytes of data, and has 1", true},
		"refusal":          {string(appendRefusal(nil, "no\x1b[31mthanks")), "the peer refuses: no?[31mthanks", false},
	} {
		for stream, open := range streams {
			t.Run(name+"/"+stream, func(t *testing.T) {
				flat(t)
				conn, peer := open(t)
				heard := make(chan []byte, 1)
				go func() {
					_, _ = peer.Write([]byte(tt.says))
				}()
				go func() {
					all, _ := io.ReadAll(peer)
					heard <- all
				}()
				o := shakes(t.Context(), conn, anEnd("a"))
				require.ErrorContains(t, o.err, tt.text)
				require.Nil(t, o.peer)
				conn.Close()
				all := <-heard
				require.Equal(t, tt.isTold, bytes.Contains(all, appendFrame(nil, frameRefusal, nil)[:12]), "%q", all)
			})
		}
	}
}

// An end that hears itself, as through an echo server, does not connect to itself.
func TestShakeWithItself(t *testing.T) {
	flat(t)
	conn, echo := streams["tcp"](t)
	go func() { _, _ = io.Copy(echo, echo) }()
	o := shakes(t.Context(), conn, anEnd("a"))
	require.ErrorIs(t, o.err, syscall.EPROTO)
	require.ErrorContains(t, o.err, "leads back to this end")
}

// A connection that ends after any byte is an error at both ends, or at none of them
// until the very last frame, and nothing is left running.
func TestShakeCutAtEveryByte(t *testing.T) {
	whole := len(appendFrame(nil, frameHello, anEnd("data").body())) + frameHeader
	for name, open := range streams {
		t.Run(name, func(t *testing.T) {
			flat(t)
			for cut := range whole + 1 {
				connA, connB := open(t)
				limited := &cutConn{Conn: connA, left: cut}
				atA, atB := bothShake(t, t.Context(), t.Context(), limited, connB, anEnd("data"), anEnd("data"))
				connA.Close()
				if cut == whole {
					require.NoError(t, atA.err)
					require.NoError(t, atB.err)
					continue
				}
				require.Error(t, atB.err, "%d", cut)
				require.Error(t, atA.err, "%d", cut)
			}
		})
	}
}

// cutConn closes after it has written so many bytes.
type cutConn struct {
	net.Conn
	left int
}

func (c *cutConn) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:c.left])
	c.Conn.Close()
	return n, io.ErrClosedPipe
}

// A slow stream, byte by byte, is as good as a fast one.
func TestShakeOverASlowStream(t *testing.T) {
	connA, connB := streams["pipe"](t)
	atA, atB := bothShake(t, t.Context(), t.Context(), slowConn{connA}, slowConn{connB}, anEnd("a"), anEnd("b"))
	require.NoError(t, atA.err)
	require.NoError(t, atB.err)
}

type slowConn struct{ net.Conn }

func (c slowConn) Write(b []byte) (n int, err error) {
	for ; n < len(b) && err == nil; n++ {
		time.Sleep(10 * time.Microsecond)
		_, err = c.Conn.Write(b[n : n+1])
	}
	return n, err
}

// A context that ends, wherever the talk is, ends the shake at once, though the peer
// is silent from there on.
func TestShakeEndsWithItsContext(t *testing.T) {
	reason := errors.New("the program's reason")
	said := appendFrame(appendFrame(nil, frameHello, anEnd("data").body()), frameReady, nil)
	for name, open := range streams {
		t.Run(name, func(t *testing.T) {
			flat(t)
			for silent := range len(said) {
				conn, peer := open(t)
				ctx, cancel := context.WithCancelCause(t.Context())
				wrote := make(chan struct{})
				go func() {
					defer close(wrote)
					_, _ = peer.Write(said[:silent])
					cancel(reason)
				}()
				go func() { _, _ = io.Copy(io.Discard, peer) }()
				require.Equal(t, reason, shakes(ctx, conn, anEnd("data")).err)
				conn.Close()
				<-wrote
			}
		})
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	conn, _ := streams["pipe"](t)
	require.Equal(t, reason, shakes(ended, conn, anEnd("")).err)
}

// So does its deadline, also when the peer does not even read.
func TestShakeEndsWithItsDeadline(t *testing.T) {
	flat(t)
	for _, open := range streams {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		conn, _ := open(t)
		require.ErrorIs(t, shakes(ctx, conn, anEnd("data")).err, context.DeadlineExceeded)
		cancel()
	}
}

// The deadline's cause is known, whichever clock is first: the context's, or conn's.
func TestShakeEndsWithTheCauseOfItsDeadline(t *testing.T) {
	flat(t)
	reason := errors.New("the program's own reason")
	for range 50 {
		ctx, cancel := context.WithTimeoutCause(t.Context(), time.Millisecond, reason)
		conn, other := net.Pipe()
		require.Equal(t, reason, shakes(ctx, conn, anEnd("")).err)
		cancel()
		conn.Close()
		other.Close()
	}
}

// What goes wrong while an end is brought up is told to the other.
func TestShakeTellsWhatFails(t *testing.T) {
	for _, open := range streams {
		connA, connB := open(t)
		failed := make(chan error, 1)
		go func() {
			failed <- shake(t.Context(), connB, anEnd("b"), func(*hello) error { return fmt.Errorf("no route to the peer%s", strings.Repeat("!", 2000)) })
		}()
		o := shakes(t.Context(), connA, anEnd("a"))
		require.ErrorIs(t, o.err, syscall.ECONNREFUSED)
		require.ErrorContains(t, o.err, "no route to the peer!!")
		require.Less(t, len(o.err.Error()), 1200)
		require.ErrorContains(t, <-failed, "no route")
	}
}

// A connection without deadlines is of no use to a context that can end.
func TestShakeWantsDeadlines(t *testing.T) {
	conn, _ := streams["pipe"](t)
	err := shakes(t.Context(), noDeadlines{conn}, anEnd("")).err
	require.ErrorContains(t, err, "has no deadlines")
	require.ErrorIs(t, err, errors.ErrUnsupported)
}

type noDeadlines struct{ net.Conn }

func (noDeadlines) SetDeadline(time.Time) error { return errors.ErrUnsupported }

// Within a subnet of InfiniBand, packets need no GID; across routers there is no way.
func TestAgreeOnInfiniBand(t *testing.T) {
	end := func(gid string, lid uint16) *hello {
		h := anEnd("")
		h.link, h.kind, h.peer.LID, h.peer.GID = ibv.LinkLayerInfiniband, ibv.GIDTypeIB, lid, ibv.GIDOf(netip.MustParseAddr(gid))
		return h
	}
	a, err := end("fe80::1", 1).agree(end("fe80::2", 2))
	require.NoError(t, err)
	require.True(t, a.peer.GID.IsZero())
	require.EqualValues(t, 2, a.peer.LID)
	_, err = end("fe80::1", 1).agree(end("fec0::2", 2))
	require.ErrorContains(t, err, "librdmacm")
}

// No bytes of a peer's do any harm, and what is understood is written the same again.
func FuzzFrames(f *testing.F) {
	hello := appendFrame(nil, frameHello, anEnd("data").body())
	f.Add(hello)
	f.Add(hello[:30])
	f.Add(appendRefusal(nil, "no"))
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	mine := anEnd("mine")
	f.Fuzz(func(t *testing.T, said []byte) {
		r := bytes.NewReader(said)
		body, err := readFrame(r, frameHello)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		require.Equal(t, frameHeader+len(body), len(said)-r.Len(), "not a byte more")
		h, err := parseHello(body)
		if err != nil {
			require.ErrorIs(t, err, syscall.EPROTO)
			return
		}
		require.Equal(t, body, h.body())
		if a, err := mine.agree(h); err == nil {
			require.True(t, a.mtu >= ibv.MTU256 && a.mtu <= mine.mtu)
			require.LessOrEqual(t, a.asks, mine.asks)
		}
	})
}
