//go:build device

package rdmacm_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
	"github.com/goverbs/goverbs/test/rdmacm"
)

const (
	buffers = 8  // that an end receives into
	depth   = 16 // of its send queue
	length  = 64 // bytes of a message: how many buffers are posted, its number, and what it says
)

// deadline is how long anything here may take.
func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// ringEnd is one side of a connection, in handles of package rdma's.
type ringEnd struct {
	*end
	dev        *rdma.Device
	pd         *rdma.PD
	send, recv *rdma.CQ
	qp         *rdma.QP
	recvs      *rdma.RecvRing
	sends      *rdma.SendRing
	memory     *rdma.Region // messages, what is written to the peer, and what that writes
	peer       rdma.Remote  // where it may write at the peer's
	told       uint64       // how many posted buffers the peer knows of
	first      bool         // it speaks first: iWARP wants that of the active side
	added      uint64       // messages to the send ring
	sent       uint64       // numbered ones
	received   uint64
}

// connectedQP is a queue pair of librdmacm's, which closes it.
type connectedQP struct{ id *rdmacm.CmID }

func (q connectedQP) Close() error { return rdmacm.DestroyQP(q.id) }

// queues makes the completion queues of an end.
type queues func(e *ringEnd) (send, recv *rdma.CQ)

// ownQueues is queues of rdma's.
func ownQueues(e *ringEnd) (send, recv *rdma.CQ) {
	e.t.Helper()
	send, err := e.dev.CreateCQ(depth, rdma.CQOptions{})
	require.NoError(e.t, err)
	recv, err = e.dev.CreateCQ(2*buffers, rdma.CQOptions{})
	require.NoError(e.t, err)
	return send, recv
}

// rawQueue is a completion queue that C has made, with its channel.
type rawQueue struct {
	cq      *ibv.CQ
	channel *ibv.CompChannel
}

func (q rawQueue) Close() error { return errors.Join(q.cq.Close(), q.channel.Close()) }

// adoptedQueues is queues of C's.
func adoptedQueues(e *ringEnd) (send, recv *rdma.CQ) {
	e.t.Helper()
	one := func(entries int) *rdma.CQ {
		owned, err := rdma.Own("queue", func() (q rawQueue, err error) {
			if q.channel, err = e.dev.Raw().CreateCompChannel(); err != nil {
				return q, err
			}
			q.cq, err = e.dev.Raw().CreateCQWithChannel(entries, 0, q.channel, 0)
			return q, err
		}, e.dev)
		require.NoError(e.t, err)
		channel, err := e.dev.AdoptChannel(owned.Raw().channel)
		require.NoError(e.t, err)
		cq, err := e.dev.AdoptCQ(owned.Raw().cq, rdma.CQOptions{Channel: channel})
		require.NoError(e.t, err)
		return cq
	}
	return one(depth), one(2 * buffers)
}

// equip gives an identifier that has its device a queue pair, and rings on it.
func (e *ringEnd) equip(id *rdmacm.CmID, queues queues) {
	t := e.t
	t.Helper()
	e.id = id
	var err error
	// Both ends have the same context of C's: librdmacm opens a device once.
	e.dev, err = rdma.AdoptDevice(id.Verbs, rdma.DeviceOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.dev.CloseAll()) })
	e.pd, err = e.dev.AllocPD()
	require.NoError(t, err)
	e.send, e.recv = queues(e)
	// What librdmacm has made is closed behind its handle, and before the queues.
	_, err = rdma.Own("queue pair of librdmacm", func() (connectedQP, error) {
		return connectedQP{id}, rdmacm.CreateQP(id, e.pd.Raw(), &ibv.QPInitAttr{
			SendCQ: e.send.Raw(), RecvCQ: e.recv.Raw(), QPType: ibv.QPTRC,
			Cap: ibv.QPCap{MaxSendWR: depth, MaxRecvWR: buffers, MaxSendSGE: 1, MaxRecvSGE: 1},
		})
	}, e.pd, e.send, e.recv)
	require.NoError(t, err)
	e.qp, err = e.pd.AdoptQP(id.QP, rdma.QPOptions{SendCQ: e.send, RecvCQ: e.recv})
	require.NoError(t, err)
	e.recvs, err = rdma.NewRecvRing(e.qp, rdma.RecvRingOptions{Buffers: buffers, Size: length})
	require.NoError(t, err)
	e.sends, err = rdma.NewSendRing(e.qp, rdma.SendRingOptions{Requests: depth, SignalEvery: 4})
	require.NoError(t, err)
	e.memory, err = e.pd.Register(make([]byte, 3*depth*length), ibv.AccessLocalWrite|ibv.AccessRemoteWrite)
	require.NoError(t, err)
}

// param is what an end connects or accepts with: it tells how many buffers are posted,
// and where the peer may write.
func (e *ringEnd) param() (*rdmacm.ConnParam, *runtime.Pinner) {
	e.t.Helper()
	e.told = e.recvs.Posted()
	require.EqualValues(e.t, buffers, e.told)
	window, err := e.memory.Remote(2*depth*length, depth*length)
	require.NoError(e.t, err)
	text, err := window.MarshalText()
	require.NoError(e.t, err)
	data := append(binary.BigEndian.AppendUint32(nil, uint32(e.told)), text...)
	var kept runtime.Pinner
	kept.Pin(&data[0])
	return &rdmacm.ConnParam{
		// Safe: the bytes are pinned until C has copied them.
		PrivateData: uintptr(unsafe.Pointer(&data[0])), PrivateDataLen: uint8(len(data)),
		ResponderResources: 1, InitiatorDepth: 1, RetryCount: 7, RNRRetryCount: 7,
	}, &kept
}

// privateData is what the peer told with an event.
func privateData(t *testing.T, event *rdmacm.CmEvent) (posted uint64, window rdma.Remote) {
	t.Helper()
	conn := event.Param.Conn()
	require.Greater(t, int(conn.PrivateDataLen), 4)
	// Safe: the event has these bytes until it is acknowledged.
	data := unsafe.Slice(clib.At[byte](conn.PrivateData), conn.PrivateDataLen)
	text := data[4:]
	for len(text) > 0 && text[len(text)-1] == 0 { // InfiniBand fills it up
		text = text[:len(text)-1]
	}
	require.NoError(t, window.UnmarshalText(text))
	return uint64(binary.BigEndian.Uint32(data)), window
}

// meet connects two ends.
func meet(t *testing.T, queues queues) (active, passive *ringEnd) {
	t.Helper()
	rdma.NoLeaks(t)
	active, passive = &ringEnd{end: newEnd(t), first: true}, &ringEnd{end: newEnd(t)}
	listener := passive.newID()
	require.NoError(t, rdmacm.BindAddr(listener, lookup(t, service, rdmacm.RAIPassive).AiSrcAddr))
	require.NoError(t, rdmacm.Listen(listener, 1))

	id := active.newID()
	active.resolve(id, service)
	active.equip(id, queues)
	t.Logf("on %v", active.dev)
	param, kept := active.param()
	require.NoError(t, rdmacm.Connect(id, param))
	kept.Unpin()
	var atActive, atPassive uint64
	passive.await(rdmacm.CmEventConnectRequest, func(event *rdmacm.CmEvent) {
		atActive, passive.peer = privateData(t, event)
		id := event.ID
		t.Cleanup(func() { require.NoError(t, rdmacm.DestroyID(id)) })
		passive.id = id
	})
	passive.equip(passive.id, queues)
	passive.sends.SetLimit(atActive)
	param, kept = passive.param()
	require.NoError(t, rdmacm.Accept(passive.id, param))
	kept.Unpin()
	active.await(rdmacm.CmEventEstablished, func(event *rdmacm.CmEvent) { atPassive, active.peer = privateData(t, event) })
	active.sends.SetLimit(atPassive)
	passive.await(rdmacm.CmEventEstablished, nil)
	return active, passive
}

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

// kinds is whose the completion queues are.
var kinds = map[string]queues{"own": ownQueues, "adopted": adoptedQueues}

// Rings on queue pairs that librdmacm connects: messages go both ways under credits,
// while whoever has nothing to do waits; then each writes into the other's memory.
func TestRings(t *testing.T) {
	const messages = 2000
	for kind, queues := range kinds {
		t.Run(kind, func(t *testing.T) {
			active, passive := meet(t, queues)
			ctx := deadline(t)
			both(t, active, passive, func(e *ringEnd) error { return e.exchange(ctx, messages) })

			require.NoError(t, active.write(ctx, 1))
			require.NoError(t, passive.written(ctx, 1))
			require.NoError(t, passive.write(ctx, 2))
			require.NoError(t, active.written(ctx, 2))
		})
	}
}
