package rdma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"syscall"
	"unicode/utf8"
)

// What the two ends of a connection tell each other over the byte stream is frames:
// a header of 16 bytes, and a body. All numbers are big-endian.
//
//	magic    8 bytes
//	version  2
//	kind     2
//	length   4, of the body
//
// The header and the frame that refuses are the same in all versions, so that ends
// of different versions refuse each other with a reason. Each end writes a hello and
// reads the other's; then it either writes that it is ready, once its queue pair is in
// RTS, or refuses; and it reads which of them the other has written.
const (
	frameMagic    = "\x89rdma\r\n\x1a" // no text, and what a text mode would spoil
	frameVersion  = 1
	frameHeader   = len(frameMagic) + 8
	helloLength   = 68
	maxData       = 64 << 10
	maxRefusal    = 1 << 10
	maxFrame      = helloLength + maxData
	frameHello    = frameKind(1)
	frameReady    = frameKind(2)
	frameRefusal  = frameKind(3)
	refusalTooBig = "…"
)

type frameKind uint16

// appendFrame appends a frame to b.
func appendFrame(b []byte, kind frameKind, body []byte) []byte {
	b = append(b, frameMagic...)
	b = binary.BigEndian.AppendUint16(b, frameVersion)
	b = binary.BigEndian.AppendUint16(b, uint16(kind))
	b = binary.BigEndian.AppendUint32(b, uint32(len(body)))
	return append(b, body...)
}

// appendRefusal appends a frame that refuses for a reason.
func appendRefusal(b []byte, reason string) []byte {
	if len(reason) > maxRefusal {
		reason = reason[:maxRefusal-len(refusalTooBig)] + refusalTooBig
	}
	return appendFrame(b, frameRefusal, []byte(reason))
}

// errNotOurs is that the peer speaks something else: it would not understand a
// refusal either.
var errNotOurs = errors.New("it does not speak this protocol")

// refusedError is that the peer has refused.
type refusedError struct{ reason string }

func (e *refusedError) Error() string { return "the peer refuses: " + e.reason }
func (e *refusedError) Unwrap() error { return syscall.ECONNREFUSED }

// protocolError is what is wrong with what the peer has said.
func protocolError(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, syscall.EPROTO)...)
}

// readFrame reads a frame of the kind, and not a byte more. A refusal in its place is
// a *refusedError.
func readFrame(r io.Reader, want frameKind) (body []byte, err error) {
	header := make([]byte, frameHeader)
	if err := readMagic(r, header[:len(frameMagic)]); err != nil {
		return nil, err
	}
	rest := header[len(frameMagic):]
	if _, err := io.ReadFull(r, rest); err != nil {
		return nil, cutShort(err)
	}
	version, kind, length := binary.BigEndian.Uint16(rest), frameKind(binary.BigEndian.Uint16(rest[2:])), binary.BigEndian.Uint32(rest[4:])
	limit := uint32(0)
	switch {
	case kind == frameRefusal:
		limit = maxRefusal
	case version != frameVersion:
		return nil, protocolError("the peer speaks version %d of the protocol, and this end version %d", version, frameVersion)
	case kind != want:
		return nil, protocolError("the peer has sent a frame of kind %d in place of %d", kind, want)
	case kind == frameHello:
		limit = maxFrame
	}
	if length > limit {
		return nil, protocolError("the peer announces %d bytes in a frame of kind %d, which has %d at most", length, kind, limit)
	}
	body = make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, cutShort(err)
	}
	if kind == frameRefusal {
		return nil, &refusedError{reason: printable(body)}
	}
	return body, nil
}

// readMagic gives up at the first byte that is wrong, because a peer that speaks
// something else may be waiting for an answer.
func readMagic(r io.Reader, b []byte) error {
	for n := 0; n < len(b); {
		k, err := r.Read(b[n:])
		n += k
		if !bytes.HasPrefix([]byte(frameMagic), b[:n]) {
			return fmt.Errorf("the peer speaks %s, which begins with %q: %w: %w", guess(b[:n]), b[:n], errNotOurs, syscall.EPROTO)
		}
		if err != nil && n < len(b) {
			if n > 0 && err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return cutShort(err)
		}
	}
	return nil
}

// guess names what begins so.
func guess(b []byte) string {
	for _, word := range []string{"HTTP", "GET ", "POST", "PUT ", "HEAD", "PRI "} {
		if bytes.HasPrefix(b, []byte(word)) {
			return "HTTP"
		}
	}
	switch {
	case bytes.HasPrefix(b, []byte("SSH-")):
		return "SSH"
	case len(b) >= 2 && b[0] >= 0x14 && b[0] <= 0x17 && b[1] == 3:
		return "TLS (see tls.Client and tls.Server)"
	}
	return "something else"
}

// cutShort says what an end of the stream means here.
func cutShort(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the peer has closed the connection: %w", io.ErrUnexpectedEOF)
	}
	return err
}

// printable is a text of the peer's without what could harm a terminal or a log.
func printable(text []byte) string {
	return string(bytes.Map(func(r rune) rune {
		if r < ' ' || r == utf8.RuneError || (r >= 0x7f && r < 0xa0) {
			return '?'
		}
		return r
	}, text))
}
