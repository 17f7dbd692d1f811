package rdma

import (
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/internal/words"
)

// Remote is memory of a peer's that RDMA and atomics can reach: what the peer, whose
// memory it is, has to tell, by [Region.Remote], and what [SendRing.AddRDMA] and
// [SendRing.AddAtomic] want to know. As text, and so in JSON, it is one line: see
// [Remote.String].
type Remote struct {
	// Addr is where it starts, as the device knows the memory.
	Addr uint64
	// RKey is the memory region's, which allows the access.
	RKey uint32
	// Length is its size in bytes.
	Length uint64
}

// Remote is what a peer must know of length bytes of the region that start at
// offset. The region's access flags, and those of the queue pair, say what the peer
// may do with them. The device sees to the region's bounds, not to these: an rkey
// gives away the whole region.
func (r *Region) Remote(offset, length int) (Remote, error) {
	const op = "describe a part of"
	if err := r.lifetime().check(op); err != nil {
		return Remote{}, err
	}
	if offset < 0 || length < 0 || offset > r.length || length > r.length-offset {
		return Remote{}, r.l.failed(op, syscall.EINVAL, fmt.Sprintf("%d bytes at offset %d are not within its %d bytes", length, offset, r.length))
	}
	return Remote{Addr: r.addr + uint64(offset), RKey: r.rkey, Length: uint64(length)}, nil
}

// Slice is length bytes of it that start at offset. The error says that they are not
// within it.
func (m Remote) Slice(offset, length uint64) (Remote, error) {
	if offset > m.Length || length > m.Length-offset {
		return Remote{}, &Error{Op: "slice memory of a peer's", On: m.String(), Err: syscall.EINVAL, Hint: fmt.Sprintf("%d bytes at offset %d are not within it", length, offset)}
	}
	return Remote{Addr: m.Addr + offset, RKey: m.RKey, Length: length}, nil
}

// String is the memory as one line: addr=0x7f12a0000000 length=4096 rkey=0x1a2b.
func (m Remote) String() string {
	return fmt.Sprintf("addr=%#x length=%d rkey=%#x", m.Addr, m.Length, m.RKey)
}

// MarshalText is String for the packages that write text, such as encoding/json.
func (m Remote) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText reads what MarshalText writes, with the words in any order, and
// numbers in any base that Go has. Anything else is an error, and changes nothing.
func (m *Remote) UnmarshalText(text []byte) error {
	var read Remote
	err := words.Read(text, map[string]any{"addr": &read.Addr, "length": &read.Length, "rkey": &read.RKey})
	if err == nil && read.Addr+read.Length < read.Addr {
		err = fmt.Errorf("%d bytes at %#x leave the address space", read.Length, read.Addr)
	}
	if err != nil {
		return fmt.Errorf("rdma: read memory of a peer's from %.100q: %w", text, err)
	}
	*m = read
	return nil
}
