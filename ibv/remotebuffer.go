package ibv

import (
	"fmt"

	"github.com/goverbs/goverbs/internal/words"
)

// RemoteBuffer is memory of a peer's that RDMA and atomics can reach: what the
// peer, whose memory it is, has to tell, by [MR.RemoteBuffer], and what
// [SendChain.SetRDMA] and [SendChain.SetAtomic] want to know. As text, and so in
// JSON, it is one line: see [RemoteBuffer.String].
type RemoteBuffer struct {
	// Addr is where it starts, as the device knows the memory.
	Addr uint64
	// Length is its size in bytes.
	Length uint64
	// RKey is the memory region's, which allows the access.
	RKey uint32
}

// RemoteBuffer is what a peer must know of length bytes of the region that start
// at offset. The region's access flags, and those of the queue pair, say what the
// peer may do with them; the device sees to the region's bounds, not to these.
func (mr *MR) RemoteBuffer(offset, length int) (RemoteBuffer, error) {
	if offset < 0 || length < 0 || uint64(offset)+uint64(length) > mr.Length {
		return RemoteBuffer{}, mr.Context.action("describe a part of a memory region", nil).invalid(
			"%d bytes at offset %d are not within its %d bytes", length, offset, mr.Length)
	}
	return RemoteBuffer{Addr: uint64(mr.Addr) + uint64(offset), Length: uint64(length), RKey: mr.RKey}, nil
}

// String is the buffer as one line: addr=0x7f12a0000000 length=4096 rkey=0x1a2b.
func (b RemoteBuffer) String() string {
	return fmt.Sprintf("addr=%#x length=%d rkey=%#x", b.Addr, b.Length, b.RKey)
}

// MarshalText is String for the packages that write text, such as encoding/json.
func (b RemoteBuffer) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// UnmarshalText reads what MarshalText writes, with the words in any order, and
// numbers in any base that Go has. Anything else is an error, and changes nothing.
func (b *RemoteBuffer) UnmarshalText(text []byte) error {
	var read RemoteBuffer
	err := words.Read(text, map[string]any{"addr": &read.Addr, "length": &read.Length, "rkey": &read.RKey})
	if err == nil && read.Addr+read.Length < read.Addr {
		err = fmt.Errorf("%d bytes at %#x leave the address space", read.Length, read.Addr)
	}
	if err != nil {
		return fmt.Errorf("ibv: read a remote buffer from %.100q: %w", text, err)
	}
	*b = read
	return nil
}
