//go:build device && linux

package rdma

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// toldToWait counts how often the device has told a sender, or was told as one, that
// there was no receive for its message.
func toldToWait(t *testing.T) (n int) {
	t.Helper()
	for _, name := range []string{"rcvd_rnr_err", "send_rnr_err"} {
		text, err := os.ReadFile(filepath.Join("/sys/class/infiniband", deviceName, "ports/1/hw_counters", name))
		require.NoError(t, err)
		k, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		n += k
	}
	return n
}

// A sender that has no more messages under way than the receiver has buffers posted
// is never told to wait, however late the receiver gives buffers back. One that does
// not ask is.
func TestCreditsKeepASenderFromWaiting(t *testing.T) {
	const buffers, size, messages = 8, 64, 3000
	r := newRig(t)
	from := r.region(64 * size)
	for _, credits := range []bool{true, false} {
		sender, receiver := r.oneWay(64, buffers)
		recvs, err := rdma.NewRecvRing(receiver.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
		require.NoError(t, err)
		sends, err := rdma.NewSendRing(sender.QP, rdma.SendRingOptions{Requests: 64, SignalEvery: 8})
		require.NoError(t, err)
		if credits {
			sends.SetLimit(recvs.Posted())
		}
		before := toldToWait(t)
		deadline := time.Now().Add(patience)
		held := make([]rdma.Received, 0, buffers)
		sent, received, refused := uint64(0), uint64(0), 0
		count := uint64(messages)
		if !credits {
			count = 64
		}
		for received < count {
			require.True(t, time.Now().Before(deadline), "%d of %d messages", received, count)
			for sent < count {
				at := int(sent%64) * size
				_, err := sends.Add(ibv.WRSend, 0, from.SGE(at, size))
				if errors.Is(err, rdma.ErrNoCredit) {
					refused++
					break
				}
				if errors.Is(err, rdma.ErrRingFull) {
					break
				}
				require.NoError(t, err)
				binary.LittleEndian.PutUint64(from.Bytes()[at:], sent)
				sent++
			}
			require.NoError(t, sends.Post())
			_, err := sends.Poll()
			require.NoError(t, err)
			n, err := recvs.Poll(held[len(held):buffers])
			require.NoError(t, err)
			held = held[:len(held)+n]
			for i := range held[len(held)-n:] {
				m := &held[len(held)-n+i]
				require.NoError(t, m.WC.Err())
				require.Equal(t, received, binary.LittleEndian.Uint64(m.Data))
				received++
			}
			// Given back late, and posted by the next poll.
			if len(held) > buffers/2 || received == sent {
				require.NoError(t, recvs.Release(held...))
				held = held[:0]
			}
			if credits {
				sends.SetLimit(recvs.Posted())
			}
		}
		if credits {
			require.Equal(t, before, toldToWait(t), "of %d messages, so many were told to wait", messages)
			require.Positive(t, refused, "the limit must have been reached")
		} else {
			require.Greater(t, toldToWait(t), before, "the counter must count")
		}
	}
}

// One completion queue serves the sends and the receives of many queue pairs.
func TestRingsOnOneCompletionQueue(t *testing.T) {
	const pairs, buffers, size, messages = 20, 4, 32, 50
	r := newRig(t)
	from := r.region(pairs * messages * size)
	cq := r.cq(4 * pairs * 64)
	var all rdma.Rings[int]
	var senders [pairs]*rdma.SendRing
	var receivers [pairs]*rdma.RecvRing
	for i := range pairs {
		opts := room(16, buffers)
		opts.SendCQ, opts.RecvCQ = cq, cq
		a, err := r.pd.CreateQP(opts)
		require.NoError(t, err)
		b, err := r.pd.CreateQP(opts)
		require.NoError(t, err)
		r.connect(a, b)
		senders[i], err = rdma.NewSendRing(a, rdma.SendRingOptions{Requests: 16, SignalEvery: 4})
		require.NoError(t, err)
		receivers[i], err = rdma.NewRecvRing(b, rdma.RecvRingOptions{Buffers: buffers, Size: size})
		require.NoError(t, err)
		require.NoError(t, all.Add(senders[i], i))
		require.NoError(t, all.Add(receivers[i], i))
		senders[i].SetLimit(receivers[i].Posted())
	}
	var sent, received [pairs]uint64
	wcs := make([]ibv.WC, 32)
	deadline := time.Now().Add(patience)
	for total := 0; total < pairs*messages; {
		require.True(t, time.Now().Before(deadline), "%v of %d each", received, messages)
		for i, ring := range senders {
			for sent[i] < messages {
				at := (i*messages + int(sent[i])) * size
				binary.LittleEndian.PutUint64(from.Bytes()[at:], uint64(i)<<32|sent[i])
				_, err := ring.Add(ibv.WRSend, 0, from.SGE(at, size))
				if err != nil {
					require.True(t, errors.Is(err, rdma.ErrNoCredit) || errors.Is(err, rdma.ErrRingFull), "%v", err)
					break
				}
				sent[i]++
			}
			require.NoError(t, ring.Post())
		}
		n, err := cq.Poll(wcs)
		require.NoError(t, err)
		for k := range wcs[:n] {
			wc := &wcs[k]
			require.NoError(t, wc.Err())
			of, i := all.Of(wc)
			switch ring := of.(type) {
			case *rdma.SendRing:
				require.True(t, ring.Handle(wc))
			case *rdma.RecvRing:
				m, own := ring.Handle(wc)
				require.True(t, own)
				require.Equal(t, uint64(i)<<32|received[i], binary.LittleEndian.Uint64(m.Data))
				received[i]++
				total++
				require.NoError(t, ring.Release(m))
				require.NoError(t, ring.Flush())
				senders[i].SetLimit(ring.Posted())
			default:
				require.Fail(t, "a completion of no ring", "%+v", wc)
			}
		}
	}
}

// On UD, a message comes without its header, and a send says where it goes. What is
// sent inline is the caller's again at once.
func TestUDRings(t *testing.T) {
	const buffers, size, qkey = 8, 100, 0x1234
	r := newRig(t)
	opts := room(buffers, buffers)
	opts.Type, opts.QKey = ibv.QPTUD, qkey
	a, b := r.end(opts), r.end(opts)
	for _, e := range []end{a, b} {
		require.NoError(t, e.ToRTRUD())
		require.NoError(t, e.ToRTSUD(0))
	}
	ah, err := r.pd.CreateAH(rdma.AHOptions{GID: r.gid.GID, From: r.gid})
	require.NoError(t, err)
	recvs, err := rdma.NewRecvRing(b.QP, rdma.RecvRingOptions{Buffers: buffers, Size: size})
	require.NoError(t, err)
	sends, err := rdma.NewSendRing(a.QP, rdma.SendRingOptions{Requests: buffers, SignalEvery: 1})
	require.NoError(t, err)
	from, data := r.region(size), make([]byte, 64)
	to := rdma.UDPeer{AH: ah, QPNum: b.Number(), QKey: qkey}
	for round := range 50 {
		length := size
		for i := range from.Bytes() {
			from.Bytes()[i] = byte(i + round)
		}
		if round%2 == 0 {
			_, err = sends.AddUD(ibv.WRSend, 0, to, from.SGE(0, size))
		} else {
			length = copy(data, from.Bytes())
			_, err = sends.AddUDInline(ibv.WRSend, 0, to, data)
			clear(data)
		}
		require.NoError(t, err)
		require.NoError(t, sends.Post())
		in := make([]rdma.Received, 1)
		ctx, cancel := waiting(t)
		n, err := recvs.Wait(ctx, in)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		require.Equal(t, from.Bytes()[:length], in[0].Data)
		require.Len(t, recvs.Header(&in[0].WC), ibv.GRHLength)
		require.NoError(t, recvs.Release(in...))
		for sends.Outstanding() > 0 {
			_, err := sends.Wait(ctx)
			require.NoError(t, err)
		}
		cancel()
	}
}

// waiting is a context for as long as anything may take.
func waiting(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithTimeout(t.Context(), patience)
}
