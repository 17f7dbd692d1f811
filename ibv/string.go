package ibv

import "fmt"

// String is the device that the context is of. It reads the memory of both.
func (ctx *Context) String() string {
	if ctx == nil {
		return nilText
	}
	return fmt.Sprintf("context of RDMA device %v (file %d)", ctx.Device, ctx.CmdFD)
}

// String is a line about the protection domain.
func (pd *PD) String() string {
	if pd == nil {
		return nilText
	}
	return fmt.Sprintf("protection domain (handle %d)", pd.Handle)
}

// String is a line about the memory region.
func (mr *MR) String() string {
	if mr == nil {
		return nilText
	}
	return fmt.Sprintf("memory region of %d bytes at %#x (lkey %#x, rkey %#x)", mr.Length, uint64(mr.Addr), mr.LKey, mr.RKey)
}

// String is a line about the memory window.
func (mw *MW) String() string {
	if mw == nil {
		return nilText
	}
	return fmt.Sprintf("memory window (%v, rkey %#x)", mw.Type, mw.RKey)
}

// String is a line about the completion queue.
func (cq *CQ) String() string {
	if cq == nil {
		return nilText
	}
	return fmt.Sprintf("completion queue for %d (handle %d)", cq.CQE, cq.Handle)
}

// String is a line about the completion channel.
func (s *CompChannel) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("completion channel (file %d)", s.FD)
}

// String is a line about the queue pair, with its number, type and state. The
// state is the one that the library knows: see [QP].State.
func (qp *QP) String() string {
	if qp == nil {
		return nilText
	}
	return fmt.Sprintf("queue pair %#x (%v, in %v)", qp.QPNum, qp.QPType, qp.State)
}

// String is a line about the shared receive queue.
func (srq *SRQ) String() string {
	if srq == nil {
		return nilText
	}
	return fmt.Sprintf("shared receive queue (handle %d)", srq.Handle)
}

// String is a line about the address handle.
func (ah *AH) String() string {
	if ah == nil {
		return nilText
	}
	return fmt.Sprintf("address handle (handle %d)", ah.Handle)
}

// nilText is what fmt prints for a nil pointer.
const nilText = "<nil>"

// String is a line about the chain.
func (c *RecvChain) String() string {
	if c == nil {
		return nilText
	}
	return fmt.Sprintf("chain of %d receives with %d scatter/gather entries at most", c.Len(), c.list.maxSGE)
}

// String is a line about the chain.
func (c *SendChain) String() string {
	if c == nil {
		return nilText
	}
	return fmt.Sprintf("chain of %d sends with %d scatter/gather entries at most", c.Len(), c.list.maxSGE)
}
