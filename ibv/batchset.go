//go:build !freebsd

package ibv

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/internal/ccall"
)

// SetSGE gives work request i its data: one piece of registered memory, to read
// from or, for reads and atomic operations, to write to.
//
// C: ibv_wr_set_sge
func (b *Batch) SetSGE(i int, sge SGE) error {
	s, err := b.data(i, unsafe.Offsetof(QPEx{}.WRSetSGE), takesData, 0)
	if err != nil {
		return err
	}
	s.DataArgs = [3]uintptr{ccall.Unsigned(sge.LKey), uintptr(sge.Addr), ccall.Unsigned(sge.Length)}
	s.Flags &^= uint32(SendInline)
	return nil
}

// SetSGEs gives work request i its data: pieces of registered memory, in order, or
// none for an empty message. The batch has a copy of the entries. Soft-RoCE of
// rdma-core before 64.0 miscounts pieces that are not of one length, which is an
// error here.
//
// C: ibv_wr_set_sge_list
func (b *Batch) SetSGEs(i int, sges ...SGE) error {
	if b.oldRxe && !sameLength(sges) {
		return b.failed(i, lacksData, func(act action) error {
			return act.because(syscall.EOPNOTSUPP,
				"this provider, Soft-RoCE of rdma-core before 64.0, miscounts entries of different lengths: make them equal, or use a SendChain")
		})
	}
	s, err := b.data(i, unsafe.Offsetof(QPEx{}.WRSetSGEList), takesData, len(sges))
	if err != nil {
		return err
	}
	copy(b.entries[i*b.maxSGE:], sges)
	s.DataArgs = [3]uintptr{uintptr(len(sges)), b.list(i)}
	s.Flags &^= uint32(SendInline)
	return nil
}

// sameLength reports whether all entries have one length.
func sameLength(sges []SGE) bool {
	for i := range sges {
		if sges[i].Length != sges[0].Length {
			return false
		}
	}
	return true
}

// SetInline gives work request i its data: bytes that each post copies into the
// queue. It adds SendInline to the flags, which some providers look at. data need
// not be registered. It has at most the MaxInlineData bytes that the queue pair was
// created with, and is the caller's to change between posts. The batch keeps it
// alive until the work request is set inline again. The first time, this allocates
// memory for each work request of the batch. Only sends and RDMA writes have
// inline data.
//
// C: ibv_wr_set_inline_data
func (b *Batch) SetInline(i int, data []byte) error {
	s, err := b.data(i, unsafe.Offsetof(QPEx{}.WRSetInlineData), takesInline, 0)
	if err != nil {
		return err
	}
	s.DataArgs = [3]uintptr{b.keep(i, 1, data), uintptr(len(data))}
	s.Flags |= uint32(SendInline)
	return nil
}

// SetInlineList is SetInline for data in pieces, in order. Soft-RoCE of rdma-core
// before 64.0 loses more than one of them, which is an error here.
//
// C: ibv_wr_set_inline_data_list
func (b *Batch) SetInlineList(i int, pieces ...[]byte) error {
	if b.oldRxe {
		if len(pieces) == 1 {
			return b.SetInline(i, pieces[0])
		}
		return b.failed(i, lacksData, func(act action) error {
			return act.because(syscall.EOPNOTSUPP,
				"this provider, Soft-RoCE of rdma-core before 64.0, sends nothing of a list: put the pieces together for SetInline, or use a SendChain")
		})
	}
	s, err := b.data(i, unsafe.Offsetof(QPEx{}.WRSetInlineDataList), takesInline, len(pieces))
	if err != nil {
		return err
	}
	for k, piece := range pieces {
		// Safe: a list has its room in entries, and its elements are as large.
		*(*DataBuf)(unsafe.Pointer(&b.entries[i*b.maxSGE+k])) = DataBuf{Addr: b.keep(i, 1+k, piece), Length: uint64(len(piece))}
	}
	s.DataArgs = [3]uintptr{uintptr(len(pieces)), b.list(i)}
	s.Flags |= uint32(SendInline)
	return nil
}

var _ = [1]struct{}{}[unsafe.Sizeof(DataBuf{})-unsafe.Sizeof(SGE{})|unsafe.Alignof(DataBuf{})-unsafe.Alignof(SGE{})]

// SetUD gives work request i its receiver, on UD: the queue pair qpNum where ah
// leads, which takes what comes with its qkey. The address handle must be open
// until the work request has completed: the batch does not keep it so. Queue pairs
// of type QPTDriver, such as EFA's SRD, may need it too.
//
// C: ibv_wr_set_ud_addr
func (b *Batch) SetUD(i int, ah *AH, qpNum, qkey uint32) error {
	if ah == nil {
		return b.failed(i, lacksUD, func(act action) error {
			return act.invalid("a UD send needs an address handle: see PD.CreateAH")
		})
	}
	s, err := b.receiver(i, unsafe.Offsetof(QPEx{}.WRSetUDAddr), lacksUD, QPTUD, QPTDriver)
	if err != nil {
		return err
	}
	s.AddressArgs = [3]uintptr{uintptr(ToPtr(ah)), ccall.Unsigned(qpNum), ccall.Unsigned(qkey)}
	return nil
}

// SetXRC gives work request i its receiver, on XRC: the shared receive queue with
// that number.
//
// C: ibv_wr_set_xrc_srqn
func (b *Batch) SetXRC(i int, srqNum uint32) error {
	s, err := b.receiver(i, unsafe.Offsetof(QPEx{}.WRSetXRCSRQN), lacksXRC, QPTXRCSend, QPTXRCSend)
	if err != nil {
		return err
	}
	s.AddressArgs = [3]uintptr{ccall.Unsigned(srqNum)}
	return nil
}

// SetWRID gives work request i another number, and leaves the rest of it.
func (b *Batch) SetWRID(i int, wrID uint64) error {
	s, err := b.patch(i, 0)
	if err == nil {
		s.WRID = wrID
	}
	return err
}

// SetFlags gives work request i other flags, and leaves the rest of it. SendInline
// is there if its data is inline, whatever flags has.
func (b *Batch) SetFlags(i int, flags SendFlags) error {
	s, err := b.patch(i, 0)
	if err == nil {
		s.Flags = uint32(flags&^SendInline) | s.Flags&uint32(SendInline)
	}
	return err
}

// SetRemote gives work request i another place in the peer's memory, and leaves
// the rest of it. It is an RDMA operation, an atomic one, or a flush.
func (b *Batch) SetRemote(i int, remoteAddr uint64, rkey uint32) error {
	s, err := b.patch(i, takesRemote)
	if err == nil {
		setRemote(s, remoteAddr, rkey)
	}
	return err
}

// SetImm gives work request i other immediate data, and leaves the rest of it.
func (b *Batch) SetImm(i int, imm BE32) error {
	s, err := b.patch(i, takesImm)
	if err != nil {
		return err
	}
	at := 0
	if b.parts[i].op == opRDMAWriteImm {
		at = 2 // behind the remote address
	}
	s.OpArgs[at] = ccall.Unsigned(uint32(imm))
	return nil
}
