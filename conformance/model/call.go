package model

import "github.com/goverbs/goverbs/ibv"

// Sequence is calls in their order, one after the other: what one of them causes is
// over before the next one.
type Sequence []Call

// Call is one call, with its arguments. Objects are numbers from 1, which the calls
// that make them choose, so that a sequence from which calls were taken still means
// the same. A call that names an object that is not there is left out.
type Call interface{ call() }

// AllocPD makes a protection domain.
type AllocPD struct{ PD int }

// DeallocPD closes one; there may be objects that belong to it.
type DeallocPD struct{ PD int }

// RegMR registers Length bytes of the memory from Offset on.
type RegMR struct {
	MR, PD, Offset, Length int
	Access                 ibv.AccessFlags
}

// DeregMR ends a registration.
type DeregMR struct{ MR int }

// AllocMW makes a memory window of type 2.
type AllocMW struct{ MW, PD int }

// DeallocMW frees it, bound or not.
type DeallocMW struct{ MW int }

// CreateCQ makes a completion queue.
type CreateCQ struct{ CQ, Entries int }

// ResizeCQ gives it another size.
type ResizeCQ struct{ CQ, Entries int }

// DestroyCQ destroys it; there may be queue pairs that use it.
type DestroyCQ struct{ CQ int }

// CreateSRQ makes a shared receive queue.
type CreateSRQ struct {
	SRQ, PD       int
	MaxWR, MaxSGE uint32
}

// QuerySRQ reads its size.
type QuerySRQ struct{ SRQ int }

// DestroySRQ destroys it; there may be queue pairs that use it.
type DestroySRQ struct{ SRQ int }

// CreateQP makes a queue pair.
type CreateQP struct {
	QP, PD, SendCQ, RecvCQ int
	SRQ                    int // 0 for a receive queue of its own
	Type                   ibv.QPType
	SigAll                 bool
	Cap                    ibv.QPCap
}

// ModifyQP moves a queue pair to another state, with the attributes that it needs,
// without those in Without, and with those in With.
type ModifyQP struct {
	QP            int
	To            ibv.QPState
	Peer          int             // to RTR on RC and UC
	Access        ibv.AccessFlags // to INIT on RC and UC
	QKey          uint32          // to INIT on UD
	RNRRetry      uint8           // to RTS on RC
	RetryCnt      uint8           // to RTS on RC
	Without, With ibv.QPAttrMask
}

// QueryQP reads a queue pair's state and what it was made with.
type QueryQP struct{ QP int }

// DestroyQP destroys a queue pair, whatever it has outstanding.
type DestroyQP struct{ QP int }

// CreateAH makes an address handle that leads to the device itself.
type CreateAH struct{ AH, PD int }

// DestroyAH destroys it.
type DestroyAH struct{ AH int }

// Fill has the processor write Length bytes of memory from Offset on.
type Fill struct {
	Offset, Length int
	Value          byte // of the first one; each has one more than the one before
}

// PostRecv posts a chain to a queue pair's receive queue.
type PostRecv struct {
	QP  int
	WRs []RecvWR
}

// PostSRQRecv posts a chain to a shared receive queue.
type PostSRQRecv struct {
	SRQ int
	WRs []RecvWR
}

// PostSend posts a chain to a queue pair's send queue.
type PostSend struct {
	QP  int
	WRs []SendWR
}

// SGE is a scatter/gather entry. Offset counts from the start of the memory, and need
// not be in the region that has the key.
type SGE struct {
	MR, Offset, Length int
	WrongKey           bool // another one than the region has
	MW                 int  // the window that has the key in place of the region, of Remote
}

// Window is what a work request does to a memory window: it binds it to a part of a
// region, or invalidates it, here or at the peer.
type Window struct {
	MW                 int
	MR, Offset, Length int             // where it is bound to
	Access             ibv.AccessFlags // that it gives
}

// RecvWR is a receive work request.
type RecvWR struct {
	ID   uint64
	SGEs []SGE
}

// SendWR is a send work request.
type SendWR struct {
	ID     uint64
	Opcode ibv.WROpcode
	Flags  ibv.SendFlags
	SGEs   []SGE

	Window     Window // of what binds or invalidates one
	Remote     SGE    // of RDMA and atomics: the region's rkey, and where; the length is that of SGEs
	CompareAdd uint64 // of atomics
	Swap       uint64 // of atomics
	Imm        uint32 // of operations with immediate data
	AH, To     int    // on UD: the way, and the queue pair
	QKey       uint32 // on UD
}

func (AllocPD) call()     {}
func (DeallocPD) call()   {}
func (RegMR) call()       {}
func (DeregMR) call()     {}
func (AllocMW) call()     {}
func (DeallocMW) call()   {}
func (CreateCQ) call()    {}
func (ResizeCQ) call()    {}
func (DestroyCQ) call()   {}
func (CreateSRQ) call()   {}
func (QuerySRQ) call()    {}
func (DestroySRQ) call()  {}
func (CreateQP) call()    {}
func (ModifyQP) call()    {}
func (QueryQP) call()     {}
func (DestroyQP) call()   {}
func (CreateAH) call()    {}
func (DestroyAH) call()   {}
func (Fill) call()        {}
func (PostRecv) call()    {}
func (PostSRQRecv) call() {}
func (PostSend) call()    {}
