package main

import (
	"bytes"
	"fmt"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

const (
	chainLength = 64
	messageSize = 1024
)

// traffic is what was received and found right.
type traffic struct {
	messages, bytes, posts int
	elapsed                time.Duration
}

// receive sends messages to itself, chain by chain, and checks every byte.
func receive(e *end, messages int, progress func(done, all int)) (traffic, error) {
	var t traffic
	buf, err := ibv.AllocBuffer(2 * chainLength * messageSize)
	if err != nil {
		return t, err
	}
	defer buf.Free()
	mr, err := e.pd.Raw().RegMR(buf, ibv.AccessLocalWrite)
	if err != nil {
		return t, err
	}
	defer mr.Close()
	qp, err := e.newQueuePair(chainLength)
	if err != nil {
		return t, err
	}
	defer qp.close()
	if err := qp.connectToItself(e); err != nil {
		return t, err
	}
	recvs, sends, err := chains(mr)
	if err != nil {
		return t, err
	}
	in, out := buf[:chainLength*messageSize], buf[chainLength*messageSize:]
	wcs := make([]ibv.WC, chainLength)
	start := time.Now()
	for t.messages < messages {
		n := min(chainLength, messages-t.messages)
		pattern(out, t.posts)
		clear(in)
		// A post that is cut short says where: the loop would go on from there.
		if _, err := qp.PostRecvRange(recvs, 0, n); err != nil {
			return t, err
		}
		if _, err := qp.PostSendRange(sends, 0, n); err != nil {
			return t, err
		}
		next := uint64(0)
		err := qp.poll(2*n, wcs, func(wc *ibv.WC) error {
			if wc.Err() != nil || wc.Opcode != ibv.WCRecv {
				return wc.Err()
			}
			at := int(wc.WRID) * messageSize
			if wc.WRID != next || !bytes.Equal(in[at:at+int(wc.ByteLen)], out[at:at+messageSize]) {
				return fmt.Errorf("message %d came as %d bytes that are not what was sent", wc.WRID, wc.ByteLen)
			}
			next++
			t.bytes += int(wc.ByteLen)
			return nil
		})
		if err != nil {
			return t, err
		}
		t.messages += n
		t.posts++
		progress(t.messages, messages)
	}
	t.elapsed = time.Since(start)
	return t, nil
}

// chains builds the receives into the first half of mr and the sends from the
// second half, once.
func chains(mr *ibv.MR) (*ibv.RecvChain, *ibv.SendChain, error) {
	recvs, err := mr.RecvChain(chainLength, messageSize)
	if err != nil {
		return nil, nil, err
	}
	sends, err := ibv.NewSendChain(chainLength, 1)
	if err != nil {
		return nil, nil, err
	}
	for i := range chainLength {
		from := mr.SGE((chainLength+i)*messageSize, messageSize)
		if err := sends.Set(i, uint64(i), ibv.WRSend, ibv.SendSignaled, from); err != nil {
			return nil, nil, err
		}
	}
	return recvs, sends, nil
}

// pattern fills b with bytes that differ from round to round and from place to
// place, so that nothing old or displaced looks right.
func pattern(b []byte, round int) {
	x := uint32(round)*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
}
