package model

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// native is the host's byte order, in which atomics count.
var native = binary.NativeEndian

// MemorySize is how many bytes of memory the calls of a sequence share.
const MemorySize = 8192

// memory is what is in it, as far as that is known.
type memory struct {
	data  [MemorySize]byte
	open  [MemorySize]bool
	opens int // how many are
}

// fill writes bytes of which each has one more than the one before.
func (m *memory) fill(offset, length int, value byte) {
	for i := range length {
		m.put(offset+i, value+byte(i))
	}
}

func (m *memory) put(i int, v byte) {
	m.data[i] = v
	if m.open[i] {
		m.open[i] = false
		m.opens--
	}
}

// forget says that the bytes may be anything. It takes what is outside for nothing.
func (m *memory) forget(offset, length int) {
	for i := max(offset, 0); i < min(offset+length, MemorySize); i++ {
		if !m.open[i] {
			m.open[i] = true
			m.opens++
		}
	}
}

// compare compares it with what is there, and learns what was open.
func (m *memory) compare(got []byte) error {
	if m.opens == 0 && bytes.Equal(m.data[:], got) {
		return nil
	}
	differs := func(i int) bool { return i < len(got) && !m.open[i] && m.data[i] != got[i] }
	for i := range got {
		if !differs(i) {
			continue
		}
		n := 1
		for differs(i + n) {
			n++
		}
		shown := min(n, 16)
		return fmt.Errorf("memory at offset %d, %d bytes: % x, and not % x", i, n, got[i:i+shown], m.data[i:i+shown])
	}
	copy(m.data[:], got)
	m.open, m.opens = [MemorySize]bool{}, 0
	return nil
}

// span is bytes of the memory.
type span struct{ offset, length int }

func (s span) overlaps(o span) bool {
	return s.offset < o.offset+o.length && o.offset < s.offset+s.length
}

// gather reads the bytes of the spans; known is false if some of them may be anything.
func (m *memory) gather(spans []span) (data []byte, known bool) {
	known = true
	for _, s := range spans {
		data = append(data, m.data[s.offset:s.offset+s.length]...)
		for i := s.offset; known && m.opens > 0 && i < s.offset+s.length; i++ {
			known = !m.open[i]
		}
	}
	return data, known
}

// scatter writes data, which came from the spans from, over the spans to, as far as
// it goes.
func (m *memory) scatter(to []span, data []byte, from []span, known bool) {
	to = upTo(to, len(data))
	for i, s := range to {
		for _, o := range append(append([]span(nil), from...), to[:i]...) {
			known = known && !s.overlaps(o)
		}
	}
	for _, s := range to {
		if !known {
			m.forget(s.offset, s.length)
			continue
		}
		for i := range s.length {
			m.put(s.offset+i, data[i])
		}
		data = data[s.length:]
	}
}

// upTo is the first n bytes of the spans.
func upTo(spans []span, n int) (first []span) {
	for _, s := range spans {
		s.length = min(s.length, n)
		if n -= s.length; s.length > 0 {
			first = append(first, s)
		}
	}
	return first
}

// bytesOf is how many bytes the spans have.
func bytesOf(spans []span) (n int) {
	for _, s := range spans {
		n += s.length
	}
	return n
}
