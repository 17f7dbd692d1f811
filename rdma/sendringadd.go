package rdma

import (
	"fmt"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
)

// needs is what a work request needs beside its buffers.
type needs uint8

const (
	aReceive needs = 1 << iota // of the peer's
	aRemote
	anAtomic // a remote of 8 bytes, and operands
)

// needsOf is what an operation needs, as far as a ring knows it.
var needsOf = [...]needs{
	ibv.WRRDMAWrite: aRemote, ibv.WRRDMAWriteWithImm: aRemote | aReceive, ibv.WRRDMARead: aRemote,
	ibv.WRSend: aReceive, ibv.WRSendWithImm: aReceive, ibv.WRSendWithInv: aReceive,
	ibv.WRAtomicCmpAndSwp: aRemote | anAtomic, ibv.WRAtomicFetchAndAdd: aRemote | anAtomic,
}

func needsFor(opcode ibv.WROpcode) needs {
	if uint(opcode) < uint(len(needsOf)) {
		return needsOf[opcode]
	}
	return 0
}

// UDPeer is where a send on a UD queue pair goes.
type UDPeer struct {
	// AH is the way there. It is open until the send has completed.
	AH *AH
	// QPNum is the peer's queue pair, and QKey is its own, without which it takes
	// nothing.
	QPNum, QKey uint32
}

// Add fills in the next work request: its operation, its flags, and its buffers
// in order, which are the device's until it is done. SendSignaled among the flags
// has it signalled although its turn is not come: the last one, say, before the
// caller waits until nothing is outstanding, for those behind the last signalled one
// are never known to be done. Immediate data, or a key to invalidate, is patched into
// the result until Post; its WRID is what Done is asked about, and neither that nor
// SendSignaled is to be changed.
//
// The error is [ErrRingFull], [ErrNoCredit], or says that there are too many entries
// or too much inline, or that the operation has a method of its own:
// [SendRing.AddRDMA], [SendRing.AddAtomic] or [SendRing.AddUD]. Nothing is added then.
func (r *SendRing) Add(opcode ibv.WROpcode, flags ibv.SendFlags, sges ...ibv.SGE) (*ibv.SendWR, error) {
	n := needsFor(opcode)
	if n&aRemote != 0 || r.ud {
		return nil, r.useInstead(opcode)
	}
	return r.add(opcode, flags, n, sges)
}

// AddRDMA is Add for an RDMA write, with immediate data or without, and for a read.
// The peer's memory is at least as long as the buffers together.
func (r *SendRing) AddRDMA(opcode ibv.WROpcode, flags ibv.SendFlags, remote Remote, sges ...ibv.SGE) (*ibv.SendWR, error) {
	n := needsFor(opcode)
	if n&(aRemote|anAtomic) != aRemote || r.ud {
		return nil, r.useInstead(opcode)
	}
	if length := lengthOf(sges); length > remote.Length {
		return nil, r.notAdded("the buffers have %d bytes together, the peer's memory (%v) has %d", length, remote, remote.Length)
	}
	wr, err := r.add(opcode, flags, n, sges)
	if err != nil {
		return nil, err
	}
	to := wr.WR.RDMA()
	to.RemoteAddr, to.RKey = remote.Addr, remote.RKey
	return wr, nil
}

// AddAtomic is Add for an atomic operation on 8 bytes of the peer's, at an address
// that is a multiple of 8. What was there before goes to sge, 8 bytes.
// [ibv.WRAtomicFetchAndAdd] adds compareAdd. [ibv.WRAtomicCmpAndSwp] stores swap if
// compareAdd was there. All of them are numbers in the byte order of the host that
// they are on.
func (r *SendRing) AddAtomic(opcode ibv.WROpcode, flags ibv.SendFlags, remote Remote, sge ibv.SGE, compareAdd, swap uint64) (*ibv.SendWR, error) {
	n := needsFor(opcode)
	switch {
	case n&anAtomic == 0 || r.ud:
		return nil, r.useInstead(opcode)
	case remote.Addr%8 != 0:
		return nil, r.notAdded("an atomic operation is on an address that is a multiple of 8, and this (%v) is not", remote)
	case remote.Length < 8:
		return nil, r.notAdded("an atomic operation is on 8 bytes, and the peer's memory (%v) has %d", remote, remote.Length)
	case sge.Length != 8:
		return nil, r.notAdded("what was there before has 8 bytes, and the buffer for it has %d", sge.Length)
	}
	wr, err := r.add(opcode, flags, n, []ibv.SGE{sge})
	if err != nil {
		return nil, err
	}
	to := wr.WR.Atomic()
	to.RemoteAddr, to.RKey, to.CompareAdd, to.Swap = remote.Addr, remote.RKey, compareAdd, swap
	return wr, nil
}

// AddUD is Add for a send on a UD queue pair.
func (r *SendRing) AddUD(opcode ibv.WROpcode, flags ibv.SendFlags, peer UDPeer, sges ...ibv.SGE) (*ibv.SendWR, error) {
	n := needsFor(opcode)
	switch {
	case !r.ud || cannot(ibv.QPTUD, opcode):
		return nil, r.useInstead(opcode)
	case peer.AH == nil || peer.AH.raw == nil:
		return nil, r.notAdded("a UD send needs an address handle that is open: see PD.CreateAH")
	}
	wr, err := r.add(opcode, flags, n, sges)
	if err != nil {
		return nil, err
	}
	to := wr.WR.UD()
	to.AH, to.RemoteQPN, to.RemoteQKey = ibv.ToPtr(peer.AH.raw), peer.QPNum, peer.QKey
	return wr, nil
}

// AddInline is Add for data that goes into the queue itself, and so need not be
// registered: at most the MaxInlineData of the queue pair's Cap. It is copied into
// memory of the ring's, so that it is the caller's again at once, before Post.
func (r *SendRing) AddInline(opcode ibv.WROpcode, flags ibv.SendFlags, data []byte) (*ibv.SendWR, error) {
	sge, err := r.inlineSGE(data)
	if err != nil {
		return nil, err
	}
	return r.Add(opcode, flags|ibv.SendInline, sge...)
}

// AddRDMAInline is AddRDMA, for writes, as AddInline is Add.
func (r *SendRing) AddRDMAInline(opcode ibv.WROpcode, flags ibv.SendFlags, remote Remote, data []byte) (*ibv.SendWR, error) {
	if opcode == ibv.WRRDMARead {
		return nil, r.notAdded("what is read cannot be inline")
	}
	sge, err := r.inlineSGE(data)
	if err != nil {
		return nil, err
	}
	return r.AddRDMA(opcode, flags|ibv.SendInline, remote, sge...)
}

// AddUDInline is AddUD as AddInline is Add.
func (r *SendRing) AddUDInline(opcode ibv.WROpcode, flags ibv.SendFlags, peer UDPeer, data []byte) (*ibv.SendWR, error) {
	sge, err := r.inlineSGE(data)
	if err != nil {
		return nil, err
	}
	return r.AddUD(opcode, flags|ibv.SendInline, peer, sge...)
}

// add fills in the next work request.
func (r *SendRing) add(opcode ibv.WROpcode, flags ibv.SendFlags, n needs, sges []ibv.SGE) (*ibv.SendWR, error) {
	if r.added-r.done >= uint64(len(r.wrs)) {
		return nil, r.noRoom()
	}
	if n&aReceive != 0 && r.spent >= r.limit {
		return nil, ErrNoCredit
	}
	if flags&ibv.SendInline != 0 {
		if length := lengthOf(sges); length > uint64(r.inlineSize) {
			return nil, r.tooMuchInline(length)
		}
	}
	// every is at most the ring's length, so that a full ring has a signalled one,
	// which will tell that there is room again.
	if r.added+1-r.turn >= r.every {
		flags |= ibv.SendSignaled
	}
	if err := r.chain.Set(r.next, ticket(r.tag, r.added), opcode, flags, sges...); err != nil {
		return nil, err
	}
	// Nothing of the work request that had the slot before may live on.
	wr := &r.wrs[r.next]
	wr.SetImmData(0)
	// Safe: it is the rest of the work request.
	*(*[operandsSize]byte)(unsafe.Pointer(&wr.WR)) = [operandsSize]byte{}
	r.added++
	r.next = r.slot(r.next + 1)
	if n&aReceive != 0 {
		r.spent++
	}
	if flags&ibv.SendSignaled != 0 {
		r.turn = r.added
	}
	return wr, nil
}

// operandsSize is how long what only some operations have is: all that lies behind
// the immediate data.
const operandsSize = unsafe.Sizeof(ibv.SendWR{}) - unsafe.Offsetof(ibv.SendWR{}.WR)

func lengthOf(sges []ibv.SGE) (length uint64) {
	for i := range sges {
		length += uint64(sges[i].Length)
	}
	return length
}

// inlineSGE copies data to where the next work request has it.
func (r *SendRing) inlineSGE(data []byte) ([]ibv.SGE, error) {
	if r.added-r.done >= uint64(len(r.wrs)) {
		return nil, r.noRoom()
	}
	if len(data) > r.inlineSize {
		return nil, r.tooMuchInline(uint64(len(data)))
	}
	if len(data) == 0 {
		return nil, nil
	}
	if r.inline == nil {
		r.inline = make([]byte, len(r.wrs)*r.inlineSize)
	}
	to := r.inline[r.next*r.inlineSize:]
	copy(to, data)
	// Safe: it becomes an address for C, of memory that the ring keeps.
	r.inlineEntry[0] = ibv.SGE{Addr: uint64(uintptr(unsafe.Pointer(&to[0]))), Length: uint32(len(data))}
	return r.inlineEntry[:], nil
}

func (r *SendRing) tooMuchInline(length uint64) error {
	return r.notAdded("%d bytes are to be inline, and the queue pair has room for %d: its Cap.MaxInlineData", length, r.inlineSize)
}

// noRoom says why nothing can be added.
func (r *SendRing) noRoom() error {
	if len(r.wrs) == 0 {
		return r.closedError("add to")
	}
	return ErrRingFull
}

// useInstead names the method that an operation has.
func (r *SendRing) useInstead(opcode ibv.WROpcode) error {
	if len(r.wrs) == 0 {
		return r.closedError("add to")
	}
	method := "Add"
	switch n := needsFor(opcode); {
	case r.ud && cannot(ibv.QPTUD, opcode):
		return r.notAdded("%v is nothing that a UD queue pair can do", opcode)
	case r.ud:
		method = "AddUD"
	case n&anAtomic != 0:
		method = "AddAtomic"
	case n&aRemote != 0:
		method = "AddRDMA"
	}
	return r.notAdded("%v on a queue pair of type %v is added by %s", opcode, r.qp.typ, method)
}

func (r *SendRing) notAdded(format string, args ...any) error {
	return r.l.failed("add to", syscall.EINVAL, fmt.Sprintf(format, args...))
}
