//go:build device

package rdmacm_test

import (
	"context"
	"encoding/binary"
	"errors"
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

var capacity = ibv.QPCap{MaxSendWR: depth, MaxRecvWR: buffers, MaxSendSGE: 1, MaxRecvSGE: 1}

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
	srq        *rdma.SRQ // where the queue pair has one
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

// theirs is a queue pair that librdmacm makes. It is closed behind its handle, and
// before the queues.
func theirs(e *ringEnd) *rdma.QP {
	e.t.Helper()
	attr := ibv.QPInitAttr{SendCQ: e.send.Raw(), RecvCQ: e.recv.Raw(), QPType: ibv.QPTRC, Cap: capacity}
	parents := []rdma.Object{e.pd, e.send, e.recv}
	if e.srq != nil {
		attr.SRQ, parents = e.srq.Raw(), append(parents, e.srq)
	}
	_, err := rdma.Own("queue pair of librdmacm", func() (connectedQP, error) {
		return connectedQP{e.id}, rdmacm.CreateQP(e.id, e.pd.Raw(), &attr)
	}, parents...)
	require.NoError(e.t, err)
	qp, err := e.pd.AdoptQP(e.id.QP, rdma.QPOptions{SendCQ: e.send, RecvCQ: e.recv, SRQ: e.srq})
	require.NoError(e.t, err)
	return qp
}

// shared is theirs with a shared receive queue of rdma's.
func shared(e *ringEnd) *rdma.QP {
	e.t.Helper()
	var err error
	e.srq, err = e.pd.CreateSRQ(buffers, rdma.SRQOptions{})
	require.NoError(e.t, err)
	return theirs(e)
}

// equip gives an identifier that has its device a queue pair, and rings on it.
func (e *ringEnd) equip(id *rdmacm.CmID, queues queues, makeQP func(e *ringEnd) *rdma.QP) {
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
	e.qp = makeQP(e)
	opts := rdma.RecvRingOptions{Buffers: buffers, Size: length}
	if e.srq != nil {
		e.recvs, err = rdma.NewSRQRecvRing(e.srq, e.recv, opts)
	} else {
		e.recvs, err = rdma.NewRecvRing(e.qp, opts)
	}
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
		QPNum: e.qp.Number(), // for a queue pair that is not librdmacm's
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
func meet(t *testing.T, queues queues, makeQP func(e *ringEnd) *rdma.QP) (active, passive *ringEnd) {
	t.Helper()
	rdma.NoLeaks(t)
	active, passive = &ringEnd{end: newEnd(t), first: true}, &ringEnd{end: newEnd(t)}
	listener := passive.newID()
	require.NoError(t, rdmacm.BindAddr(listener, lookup(t, service, rdmacm.RAIPassive).AiSrcAddr))
	require.NoError(t, rdmacm.Listen(listener, 1))

	id := active.newID()
	active.resolve(id, service)
	active.equip(id, queues, makeQP)
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
	passive.equip(passive.id, queues, makeQP)
	passive.sends.SetLimit(atActive)
	param, kept = passive.param()
	require.NoError(t, rdmacm.Accept(passive.id, param))
	kept.Unpin()
	active.await(rdmacm.CmEventEstablished, func(event *rdmacm.CmEvent) { atPassive, active.peer = privateData(t, event) })
	active.sends.SetLimit(atPassive)
	passive.await(rdmacm.CmEventEstablished, nil)
	return active, passive
}
