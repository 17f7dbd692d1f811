package ibv

import (
	"fmt"
	"math"
	"unsafe"
)

// Set gives work request i its number, its operation with flags, and its
// buffers, in order. What the operation needs beyond that is patched into
// [SendChain.WR], or set by SetRDMA, SetAtomic and SetUD: a UD send without its AH
// is a fault in the provider. The error says that there is no such work request or
// no room for so many entries; nothing is changed then.
func (c *SendChain) Set(i int, wrID uint64, opcode WROpcode, flags SendFlags, sges ...SGE) error {
	l := &c.list
	if !l.has(i, len(sges)) {
		return l.notSet(i, len(sges))
	}
	wr := &l.wrs[i]
	wr.WRID, wr.Opcode, wr.SendFlags, wr.NumSGE = wrID, opcode, flags, int32(len(sges))
	l.setSGEs(i, sges)
	return nil
}

// SetSGE is Set for one buffer, which most work requests have. It is faster.
func (c *SendChain) SetSGE(i int, wrID uint64, opcode WROpcode, flags SendFlags, sge SGE) error {
	l := &c.list
	if !l.has(i, 1) {
		return l.notSet(i, 1)
	}
	wr := &l.wrs[i]
	wr.WRID, wr.Opcode, wr.SendFlags, wr.NumSGE = wrID, opcode, flags, 1
	l.setSGE(i, sge)
	return nil
}

// SetRDMA is SetSGE for an RDMA write or read. sge is the local buffer. The peer's
// is as long, and begins at remoteAddr in the memory region that has rkey.
func (c *SendChain) SetRDMA(i int, wrID uint64, opcode WROpcode, flags SendFlags, sge SGE, remoteAddr uint64, rkey uint32) error {
	if err := c.SetSGE(i, wrID, opcode, flags, sge); err != nil {
		return err
	}
	remote := c.list.wrs[i].WR.RDMA()
	remote.RemoteAddr, remote.RKey = remoteAddr, rkey
	return nil
}

// SetAtomic is SetSGE for an atomic operation on the 8 bytes at remoteAddr, a
// multiple of 8, in the memory region that has rkey. What was there before goes to
// sge, 8 bytes. [WRAtomicFetchAndAdd] adds compareAdd. [WRAtomicCmpAndSwp] stores
// swap if compareAdd was there. All of them are numbers in the byte order of the
// host that they are on.
func (c *SendChain) SetAtomic(i int, wrID uint64, opcode WROpcode, flags SendFlags, sge SGE, remoteAddr uint64, rkey uint32, compareAdd, swap uint64) error {
	if err := c.SetSGE(i, wrID, opcode, flags, sge); err != nil {
		return err
	}
	remote := c.list.wrs[i].WR.Atomic()
	remote.RemoteAddr, remote.RKey, remote.CompareAdd, remote.Swap = remoteAddr, rkey, compareAdd, swap
	return nil
}

// SetUD is SetSGE for a send on a UD queue pair, to the queue pair qpNum where ah
// leads, which takes what comes with its qkey. The address handle must be open
// until the send has completed: the chain does not keep it so.
func (c *SendChain) SetUD(i int, wrID uint64, opcode WROpcode, flags SendFlags, sge SGE, ah *AH, qpNum, qkey uint32) error {
	if ah == nil {
		return action{op: fmt.Sprintf("set work request %d", i)}.invalid("a UD send needs an address handle: see PD.CreateAH")
	}
	if err := c.SetSGE(i, wrID, opcode, flags, sge); err != nil {
		return err
	}
	to := c.list.wrs[i].WR.UD()
	to.AH, to.RemoteQPN, to.RemoteQKey = ToPtr(ah), qpNum, qkey
	return nil
}

// SetInline is SetSGE for data that each post copies into the queue. It adds
// SendInline to the flags. data need not be registered. It has at most the
// MaxInlineData bytes that the queue pair was made with, and is the caller's to
// change between posts. The chain keeps it alive until the work request is set
// inline again. The first time, this allocates 8 bytes for each work request of
// the chain.
func (c *SendChain) SetInline(i int, wrID uint64, opcode WROpcode, flags SendFlags, data []byte) error {
	if len(data) == 0 {
		return c.Set(i, wrID, opcode, flags|SendInline)
	}
	if uint64(len(data)) > math.MaxUint32 {
		return action{op: fmt.Sprintf("set work request %d", i)}.invalid("%d bytes are more than any queue takes inline", len(data))
	}
	// Safe: it becomes an address for C, and the memory is kept below.
	start := unsafe.Pointer(unsafe.SliceData(data))
	if err := c.SetSGE(i, wrID, opcode, flags|SendInline, SGE{Addr: uint64(uintptr(start)), Length: uint32(len(data))}); err != nil {
		return err
	}
	if c.inline == nil {
		c.inline = make([]unsafe.Pointer, c.Len())
	}
	c.inline[i] = start
	return nil
}
