//go:build !freebsd

package ibv

import (
	"math"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// Send begins work request i: a message. wrID is the number that its completion
// has. flags has no say about SendInline: the data decides. The error, as of every
// method that begins one, says that there is no such work request, or that the
// batch was not made for the operation.
//
// C: ibv_wr_send; wr_id and wr_flags are arguments, as with all that begin a work request
func (b *Batch) Send(i int, wrID uint64, flags SendFlags) error {
	_, err := b.begin(i, opSend, wrID, flags)
	return err
}

// SendImm is Send with immediate data, which the receiver's completion has.
//
// C: ibv_wr_send_imm
func (b *Batch) SendImm(i int, wrID uint64, flags SendFlags, imm BE32) error {
	s, err := b.begin(i, opSendImm, wrID, flags)
	if err != nil {
		return err
	}
	s.OpArgs[0] = ccall.Unsigned(uint32(imm))
	return nil
}

// SendInv is Send that makes rkey, of a memory window or region of the receiver's,
// invalid before the receive completes.
//
// C: ibv_wr_send_inv
func (b *Batch) SendInv(i int, wrID uint64, flags SendFlags, rkey uint32) error {
	s, err := b.begin(i, opSendInv, wrID, flags)
	if err != nil {
		return err
	}
	s.OpArgs[0] = ccall.Unsigned(rkey)
	return nil
}

// RDMAWrite begins work request i: a write of its data to remoteAddr, in the
// memory region or window of the peer's that has rkey.
//
// C: ibv_wr_rdma_write
func (b *Batch) RDMAWrite(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32) error {
	return b.beginRemote(i, opRDMAWrite, wrID, flags, remoteAddr, rkey)
}

// RDMAWriteImm is RDMAWrite with immediate data, for which the peer has a receive
// complete.
//
// C: ibv_wr_rdma_write_imm
func (b *Batch) RDMAWriteImm(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32, imm BE32) error {
	s, err := b.begin(i, opRDMAWriteImm, wrID, flags)
	if err != nil {
		return err
	}
	setRemote(s, remoteAddr, rkey)
	s.OpArgs[2] = ccall.Unsigned(uint32(imm))
	return nil
}

// RDMARead begins work request i: a read of as much as its data has room for, from
// remoteAddr, in the memory region or window of the peer's that has rkey.
//
// C: ibv_wr_rdma_read
func (b *Batch) RDMARead(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32) error {
	return b.beginRemote(i, opRDMARead, wrID, flags, remoteAddr, rkey)
}

// AtomicCmpSwp begins work request i: an atomic compare-and-swap of the 8 bytes at
// remoteAddr, a multiple of 8, in the memory region of the peer's that has rkey.
// It stores swap if compare was there. What was there goes to the data, 8 bytes.
// All of them are numbers in the byte order of the host that they are on.
//
// C: ibv_wr_atomic_cmp_swp
func (b *Batch) AtomicCmpSwp(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32, compare, swap uint64) error {
	s, err := b.begin(i, opAtomicCmpSwp, wrID, flags)
	if err != nil {
		return err
	}
	setRemote(s, remoteAddr, rkey)
	s.OpArgs[2], s.OpArgs[3] = uintptr(compare), uintptr(swap)
	return nil
}

// AtomicFetchAdd is AtomicCmpSwp that adds to what is there.
//
// C: ibv_wr_atomic_fetch_add
func (b *Batch) AtomicFetchAdd(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32, add uint64) error {
	s, err := b.begin(i, opAtomicFetchAdd, wrID, flags)
	if err != nil {
		return err
	}
	setRemote(s, remoteAddr, rkey)
	s.OpArgs[2] = uintptr(add)
	return nil
}

// AtomicWrite begins work request i: an atomic write of value, in the byte order
// of this host, to the 8 bytes at remoteAddr, a multiple of 8, in the memory
// region of the peer's that has rkey. It has no data besides. The first time, this
// allocates memory for each work request of the batch. rdma-core 44.0 brought it.
//
// C: ibv_wr_atomic_write; the value is an argument, not a pointer
func (b *Batch) AtomicWrite(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32, value uint64) error {
	s, err := b.begin(i, opAtomicWrite, wrID, flags)
	if err != nil {
		return err
	}
	if b.values == nil {
		b.values = make([]uint64, len(b.steps))
	}
	b.values[i] = value
	setRemote(s, remoteAddr, rkey)
	s.OpArgs[2] = uintptr(unsafe.Pointer(&b.values[i])) // safe: it is for C, and b keeps it
	return nil
}

// Flush begins work request i: it completes when what was written to length bytes
// at remoteAddr, in the memory region of the peer's that has rkey, or to all of
// the region, is as far as placement says. It has no data. rdma-core 45.0 brought
// it.
//
// C: ibv_wr_flush
func (b *Batch) Flush(i int, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32, length uint64, placement PlacementType, level SelectivityLevel) error {
	s, err := b.begin(i, opFlush, wrID, flags)
	if err != nil {
		return err
	}
	setRemote(s, remoteAddr, rkey)
	s.OpArgs[2], s.OpArgs[3], s.OpArgs[4] = uintptr(length), uintptr(uint8(placement)), uintptr(uint8(level))
	return nil
}

// LocalInv begins work request i: it makes rkey, of a memory window of type 2 of
// this side's, invalid. It has no data and no receiver.
//
// C: ibv_wr_local_inv
func (b *Batch) LocalInv(i int, wrID uint64, flags SendFlags, rkey uint32) error {
	s, err := b.begin(i, opLocalInv, wrID, flags)
	if err != nil {
		return err
	}
	s.OpArgs[0] = ccall.Unsigned(rkey)
	return nil
}

// BindMW begins work request i: it binds mw, a memory window of type 2, to what
// info says, and gives it rkey, which differs from mw.RKey in the lower 8 bits
// only: see [IncRKey]. mw.RKey stays as it is, so write rkey there once the work
// request has completed. info is copied; its MR is needed, is of the window's
// protection domain, and must be open as long as mw is bound to it. It has no data
// and no receiver. The first time, this allocates memory for each work request of
// the batch.
//
// C: ibv_wr_bind_mw
func (b *Batch) BindMW(i int, wrID uint64, flags SendFlags, mw *MW, rkey uint32, info *MWBindInfo) error {
	if mw == nil || info == nil || info.MR == 0 {
		return b.failed(i, lacksOp, func(act action) error {
			return act.invalid("to bind a memory window needs the window, and the region that it is bound to")
		})
	}
	if checkBind2(action{}, mw, rkey, info) != nil {
		return b.failed(i, lacksOp, func(act action) error { return checkBind2(act, mw, rkey, info) })
	}
	s, err := b.begin(i, opBindMW, wrID, flags)
	if err != nil {
		return err
	}
	if b.binds == nil {
		b.binds = make([]MWBindInfo, len(b.steps))
	}
	b.binds[i] = *info
	// Safe: these are for C, which has made the window, and b keeps the rest.
	s.OpArgs[0], s.OpArgs[1], s.OpArgs[2] = uintptr(ToPtr(mw)), ccall.Unsigned(rkey), uintptr(unsafe.Pointer(&b.binds[i]))
	return nil
}

// SendTSO begins work request i: sends of mss bytes of its data each, all of which
// begin with header, the headers of the network up to and with TCP's. header is
// the caller's to change between posts, and the batch keeps it alive until there
// is another one. It has at most the MaxTSOHeader bytes that the queue pair was
// created with. The first time, this allocates memory for each work request of the
// batch.
//
// C: ibv_wr_send_tso
func (b *Batch) SendTSO(i int, wrID uint64, flags SendFlags, header []byte, mss uint16) error {
	if len(header) > math.MaxUint16 {
		return b.failed(i, lacksOp, func(act action) error {
			return act.invalid("a header of %d bytes is longer than any", len(header))
		})
	}
	s, err := b.begin(i, opSendTSO, wrID, flags)
	if err != nil {
		return err
	}
	s.OpArgs[0], s.OpArgs[1], s.OpArgs[2] = b.keep(i, 0, header), uintptr(len(header)), uintptr(mss)
	return nil
}

// beginRemote begins a work request that is no more than its remote address.
func (b *Batch) beginRemote(i int, op batchOp, wrID uint64, flags SendFlags, remoteAddr uint64, rkey uint32) error {
	s, err := b.begin(i, op, wrID, flags)
	if err != nil {
		return err
	}
	setRemote(s, remoteAddr, rkey)
	return nil
}

// setRemote sets the arguments that all operations on remote memory begin with.
func setRemote(s *ccall.Step, remoteAddr uint64, rkey uint32) {
	s.OpArgs[0], s.OpArgs[1] = ccall.Unsigned(rkey), uintptr(remoteAddr)
}
