package mistakes

import (
	"fmt"
	"strings"
	"syscall"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// Mistake is one that checked mode finds.
type Mistake struct {
	Name string
	Make func(r *Rig) Made
	// Errno is what the error is, or 0 for EINVAL.
	Errno syscall.Errno
	// Posts is how many posts C sees.
	Posts int
}

// Made is what came of a mistake.
type Made struct {
	On       rdma.Object // what the error is of
	Accepted int         // how many work requests were posted, of those that should not
	Err      error
	Text     string // what its first line is to be, but for the object and the errno
}

const nothing = "; nothing was posted"

// Require requires that the error of a mistake is the right one, and says where the
// object was made.
func (m *Mistake) Require(t require.TestingT, made Made) {
	errno := m.Errno
	if errno == 0 {
		errno = syscall.EINVAL
	}
	require.Error(t, made.Err)
	line, stacks, _ := strings.Cut(made.Err.Error(), "\n")
	require.Equal(t, "rdma: "+fmt.Sprintf(made.Text, made.On, errno), line)
	require.Contains(t, stacks, "made by\n\tgithub.com/goverbs/goverbs/")
	require.Zero(t, made.Accepted)
}

// recv posts receives to a queue pair.
func recv(qp *rdma.QP, c *ibv.RecvChain, text string, args ...any) Made {
	n, err := qp.PostRecv(c)
	return Made{qp, n, err, "post receives to %v: %v; " + fmt.Sprintf(text, args...)}
}

// send posts sends to a queue pair.
func send(qp *rdma.QP, c *ibv.SendChain, text string, args ...any) Made {
	n, err := qp.PostSend(c)
	return Made{qp, n, err, "post sends to %v: %v; " + fmt.Sprintf(text, args...)}
}

// All is every mistake.
func All() []Mistake {
	all := entries
	all = append(all, operations...)
	all = append(all, lists...)
	all = append(all, buffers...)
	return append(all, depths...)
}

var entries = []Mistake{
	{Name: "lkey of nothing", Make: func(r *Rig) Made {
		sge := r.region(64).SGE(0, 64)
		sge.LKey ^= 0x5a5a00
		return recv(r.rts(), r.recvs(list(), list(sge)),
			"work request 1 (WRID 0x11) has entry 0 with lkey %#x, which is that of no memory region"+nothing, sge.LKey)
	}},
	{Name: "lkey of a closed region", Make: func(r *Rig) Made {
		region := r.region(64)
		sge := region.SGE(0, 64)
		require.NoError(r.T, region.Close())
		return send(r.rts(), r.sends(ibv.WRSend, 0, sge),
			"work request 0 (WRID 0x20) has entry 0 with lkey %#x of %v, which was closed"+nothing, sge.LKey, region)
	}},
	{Name: "entry made after the close", Make: func(r *Rig) Made {
		region := r.region(64)
		require.NoError(r.T, region.Close())
		return recv(r.rts(), r.recvs(list(region.SGE(0, 64))),
			"work request 0 (WRID 0x10) has entry 0 of a region that was closed before the entry was made"+nothing)
	}},
	{Name: "send of an entry made after the close", Make: func(r *Rig) Made {
		region := r.region(64)
		require.NoError(r.T, region.Close())
		return send(r.rts(), r.sends(ibv.WRSend, ibv.SendInline, region.SGE(-1, 64)),
			"work request 0 (WRID 0x20) has entry 0 of a region that was closed before the entry was made"+nothing)
	}},
	{Name: "lkey of nothing beside C's objects", Make: func(r *Rig) Made {
		region, qp := r.region(64), r.rts()
		region.Raw()
		qp.Raw()
		r.srq(4, 1).Raw()
		sge := region.SGE(0, 64)
		sge.LKey ^= 0x5a5a00
		return send(qp, r.sends(ibv.WRSend, 0, sge),
			"work request 0 (WRID 0x20) has entry 0 with lkey %#x, which is that of no memory region"+nothing, sge.LKey)
	}},
	{Name: "behind a region that C's object is known of", Make: func(r *Rig) Made {
		region := r.region(64)
		region.Raw()
		return send(r.rts(), r.sends(ibv.WRSend, 0, region.SGE(32, 33)),
			"work request 0 (WRID 0x20) has entry 0 with 33 bytes at %s, outside %v, which has 64 at %s"+nothing, at(region, 32), region, at(region, 0))
	}},
	{Name: "region of another protection domain", Make: func(r *Rig) Made {
		region := r.regionFor(r.pd(), 64, ibv.AccessLocalWrite)
		return recv(r.rts(), r.recvs(list(region.SGE(0, 64))),
			"work request 0 (WRID 0x10) has entry 0 of %v, which is in another protection domain"+nothing, region)
	}},
	{Name: "receive into a region without local write", Make: func(r *Rig) Made {
		region := r.regionFor(r.PD, 64, 0)
		return recv(r.rts(), r.recvs(list(region.SGE(0, 64))),
			"work request 0 (WRID 0x10) has entry 0, which is written to, of %v, which was registered without local write access (%v)"+nothing, region, ibv.AccessFlags(0))
	}},
	{Name: "read into a region without local write", Make: func(r *Rig) Made {
		region := r.regionFor(r.PD, 64, ibv.AccessRemoteRead)
		return send(r.rts(), r.sends(ibv.WRRDMARead, ibv.SendSignaled, region.SGE(0, 64)),
			"work request 0 (WRID 0x20) has entry 0, which is written to, of %v, which was registered without local write access (%v)"+nothing, region, ibv.AccessRemoteRead)
	}},
	{Name: "atomic into a region without local write", Make: func(r *Rig) Made {
		region := r.regionFor(r.PD, 64, 0)
		return send(r.rts(), r.sends(ibv.WRAtomicFetchAndAdd, ibv.SendSignaled, region.SGE(0, 8)),
			"work request 0 (WRID 0x20) has entry 0, which is written to, of %v, which was registered without local write access (%v)"+nothing, region, ibv.AccessFlags(0))
	}},
	{Name: "behind the region", Make: func(r *Rig) Made {
		region := r.region(64)
		return send(r.rts(), r.sends(ibv.WRSend, 0, region.SGE(0, 64), region.SGE(32, 33)),
			"work request 1 (WRID 0x21) has entry 0 with 33 bytes at %s, outside %v, which has 64 at %s"+nothing, at(region, 32), region, at(region, 0))
	}},
	{Name: "before the region", Make: func(r *Rig) Made {
		region := r.region(64)
		return recv(r.rts(), r.recvs(list(region.SGE(0, 8), region.SGE(-1, 8))),
			"work request 0 (WRID 0x10) has entry 1 with 8 bytes at %s, outside %v, which has 64 at %s"+nothing, at(region, -1), region, at(region, 0))
	}},
	{Name: "shared receive outside of the region", Make: func(r *Rig) Made {
		region, srq := r.region(64), r.srq(4, 1)
		n, err := srq.PostRecv(r.recvs(list(region.SGE(64, 1))))
		return Made{srq, n, err, "post receives to %v: %v; " + fmt.Sprintf(
			"work request 0 (WRID 0x10) has entry 0 with 1 bytes at %s, outside %v, which has 64 at %s"+nothing, at(region, 64), region, at(region, 0))}
	}},
}

var operations = []Mistake{
	{Name: "send before RTS", Make: func(r *Rig) Made {
		return send(r.qp(ibv.QPSInit, rdma.QPOptions{}), r.sends(ibv.WRSend, 0, r.region(64).SGE(0, 64)),
			"it is in %v, and takes no sends before RTS: see ToRTS"+nothing, ibv.QPSInit)
	}},
	{Name: "receive in RESET", Make: func(r *Rig) Made {
		return recv(r.qp(ibv.QPSReset, rdma.QPOptions{}), r.recvs(list(r.region(64).SGE(0, 64))),
			"it takes no receives in RESET: move it to INIT first"+nothing)
	}},
	{Name: "write on UD", Make: func(r *Rig) Made {
		return send(r.ud(), r.sends(ibv.WRRDMAWrite, 0, r.region(64).SGE(0, 64)),
			"work request 0 (WRID 0x20) is %v, which a queue pair of type %v cannot do"+nothing, ibv.WRRDMAWrite, ibv.QPTUD)
	}},
	{Name: "send that invalidates, on UD", Make: func(r *Rig) Made {
		return send(r.ud(), r.sends(ibv.WRSendWithInv, 0, r.region(64).SGE(0, 64)),
			"work request 0 (WRID 0x20) is %v, which a queue pair of type %v cannot do"+nothing, ibv.WRSendWithInv, ibv.QPTUD)
	}},
	{Name: "invalidation on UD", Make: func(r *Rig) Made {
		return send(r.ud(), r.sends(ibv.WRLocalInv, 0, ibv.SGE{}),
			"work request 0 (WRID 0x20) is %v, which a queue pair of type %v cannot do"+nothing, ibv.WRLocalInv, ibv.QPTUD)
	}},
	{Name: "read on UC", Make: func(r *Rig) Made {
		return send(r.uc(), r.sends(ibv.WRRDMARead, 0, r.region(64).SGE(0, 64)),
			"work request 0 (WRID 0x20) is %v, which a queue pair of type %v cannot do"+nothing, ibv.WRRDMARead, ibv.QPTUC)
	}},
	{Name: "atomic on UC", Make: func(r *Rig) Made {
		return send(r.uc(), r.sends(ibv.WRAtomicCmpAndSwp, 0, r.region(64).SGE(0, 8)),
			"work request 0 (WRID 0x20) is %v, which a queue pair of type %v cannot do"+nothing, ibv.WRAtomicCmpAndSwp, ibv.QPTUC)
	}},
	{Name: "no address handle", Make: func(r *Rig) Made {
		return send(r.ud(), r.sends(ibv.WRSend, 0, r.region(64).SGE(0, 64)),
			"work request 0 (WRID 0x20) has no address handle, which a send on UD needs: use SetUD"+nothing)
	}},
	{Name: "to queue pair 0", Make: func(r *Rig) Made {
		c := r.sends(ibv.WRSend, 0, r.region(64).SGE(0, 64))
		c.WR(0).WR.UD().AH = ibv.ToPtr(r.ah(r.PD).Raw())
		return send(r.ud(), c, "work request 0 (WRID 0x20) goes to queue pair 0, which is the network manager's: use SetUD"+nothing)
	}},
	{Name: "closed address handle", Make: func(r *Rig) Made {
		c, ah := r.sends(ibv.WRSend, 0, ibv.SGE{}), r.ah(r.PD)
		require.NoError(r.T, c.SetUD(0, 7, ibv.WRSend, 0, r.region(64).SGE(0, 64), ah.Raw(), 17, 17))
		require.NoError(r.T, ah.Close())
		return send(r.ud(), c, "work request 0 (WRID 0x7) has %v, which was closed"+nothing, ah)
	}},
	{Name: "address handle of another protection domain", Make: func(r *Rig) Made {
		c, ah := r.sends(ibv.WRSend, 0, ibv.SGE{}), r.ah(r.pd())
		require.NoError(r.T, c.SetUD(0, 7, ibv.WRSend, 0, r.region(64).SGE(0, 64), ah.Raw(), 17, 17))
		return send(r.ud(), c, "work request 0 (WRID 0x7) has %v, which is in another protection domain"+nothing, ah)
	}},
	{Name: "address handle that is none", Make: func(r *Rig) Made {
		c := r.sends(ibv.WRSend, 0, r.region(64).SGE(0, 64))
		*c.WR(0).WR.UD() = ibv.SendWRWRUD{AH: 0x5a5a, RemoteQPN: 17, RemoteQKey: 17}
		return send(r.ud(), c, "work request 0 (WRID 0x20) has an address handle that is none: it is 0x5a5a"+nothing)
	}},
	{Name: "too much inline", Make: func(r *Rig) Made {
		c, qp := r.sends(ibv.WRSend, 0, ibv.SGE{}), r.rts()
		most := int(qp.Cap().MaxInlineData)
		require.NoError(r.T, c.SetInline(0, 7, ibv.WRSend, 0, make([]byte, most+1)))
		return send(qp, c, "work request 0 (WRID 0x7) has %d bytes inline, and the queue pair was made for %d (MaxInlineData)"+nothing, most+1, most)
	}},
	{Name: "inline read", Make: func(r *Rig) Made {
		c := r.sends(ibv.WRSend, 0, ibv.SGE{})
		require.NoError(r.T, c.SetInline(0, 7, ibv.WRRDMARead, 0, make([]byte, 1)))
		return send(r.rts(), c, "work request 0 (WRID 0x7) is %v, whose data cannot be inline"+nothing, ibv.WRRDMARead)
	}},
	{Name: "too many entries to send", Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		most := int(qp.Cap().MaxSendSGE)
		c, err := ibv.NewSendChain(1, most+1)
		require.NoError(r.T, err)
		sges := make([]ibv.SGE, most+1)
		for i := range sges {
			sges[i] = region.SGE(i, 1)
		}
		require.NoError(r.T, c.Set(0, 7, ibv.WRSend, 0, sges...))
		return send(qp, c, "work request 0 (WRID 0x7) has %d scatter/gather entries, and its queue was made for %d"+nothing, most+1, most)
	}},
	{Name: "too many entries to receive", Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		most := int(qp.Cap().MaxRecvSGE)
		sges := make([]ibv.SGE, most+1)
		for i := range sges {
			sges[i] = region.SGE(i, 1)
		}
		return recv(qp, r.recvs(sges), "work request 0 (WRID 0x10) has %d scatter/gather entries, and its queue was made for %d"+nothing, most+1, most)
	}},
	{Name: "message that is too long", Make: func(r *Rig) Made {
		// A region as long as that is more than kernels with less memory can register.
		const pieces = 2
		length := r.Longest/pieces + 1
		piece := r.region(length).SGE(0, length)
		c := r.sends(ibv.WRSend, 0, ibv.SGE{})
		require.NoError(r.T, c.Set(0, 0x20, ibv.WRSend, 0, piece, piece))
		return send(r.rts(), c, "work request 0 (WRID 0x20) has %d bytes, and the longest message has %d here"+nothing, pieces*length, r.Longest)
	}},
	{Name: "UD message that is too long", Make: func(r *Rig) Made {
		c := r.sends(ibv.WRSend, 0, ibv.SGE{})
		require.NoError(r.T, c.SetUD(0, 7, ibv.WRSend, 0, r.region(r.LongestUD+1).SGE(0, r.LongestUD+1), r.ah(r.PD).Raw(), 17, 17))
		return send(r.ud(), c, "work request 0 (WRID 0x7) has %d bytes, and the longest message has %d here"+nothing, r.LongestUD+1, r.LongestUD)
	}},
}

var lists = []Mistake{
	{Name: "list that ends early", Make: func(r *Rig) Made {
		c := r.recvs(list(), list(), list())
		c.WR(1).Next = nil
		return recv(r.rts(), c, "Next of work request 1 was overwritten: the list ends there"+nothing)
	}},
	{Name: "list that goes round", Make: func(r *Rig) Made {
		c := r.recvs(list(), list(), list())
		c.WR(1).Next = c.WR(0)
		return recv(r.rts(), c, "Next of work request 1 was overwritten: it does not lead to the one behind it"+nothing)
	}},
	{Name: "list that does not end", Make: func(r *Rig) Made {
		sge := r.region(64).SGE(0, 64)
		c, other := r.sends(ibv.WRSend, 0, sge, sge), r.sends(ibv.WRSend, 0, sge)
		c.WR(1).Next = other.WR(0)
		return send(r.rts(), c, "Next of work request 1, the last, was overwritten: the list does not end there"+nothing)
	}},
	{Name: "more entries than room", Make: func(r *Rig) Made {
		c := r.recvs(list(r.region(64).SGE(0, 64)))
		c.WR(0).NumSGE = 2
		return recv(r.rts(), c, "NumSGE of work request 0 is 2: the chain has room for 1"+nothing)
	}},
	{Name: "entries that were not set", Make: func(r *Rig) Made {
		c := r.recvs(list(), list(r.region(64).SGE(0, 64)))
		c.WR(0).NumSGE = 1
		return recv(r.rts(), c, "NumSGE of work request 0 is 1, and SGList does not lead to its entries: use Set"+nothing)
	}},
}

// inTheWay is what the error says of a buffer that is in use.
const inTheWay = "%s uses %d bytes at %s, and the %s with WRID %#x on %v, which has not completed, uses %d bytes at %s: poll its completion first" + nothing

var buffers = []Mistake{
	{Name: "buffer received into twice", Posts: 1, Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		c := r.recvs(list(region.SGE(0, 64)))
		r.posted(qp.PostRecv(c))
		return recv(qp, c, inTheWay, "receive", 64, at(region, 0), "receive", 0x10, qp, 64, at(region, 0))
	}},
	{Name: "buffer received into twice by one list", Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		return recv(qp, r.recvs(list(region.SGE(0, 33)), list(region.SGE(32, 32))), inTheWay, "receive", 32, at(region, 32), "receive", 0x10, qp, 33, at(region, 0))
	}},
	{Name: "buffer received into by two queues", Posts: 1, Make: func(r *Rig) Made {
		qp, region, srq := r.rts(), r.region(64), r.srq(4, 1)
		_, err := srq.PostRecv(r.recvs(list(region.SGE(0, 64))))
		require.NoError(r.T, err)
		return recv(qp, r.recvs(list(region.SGE(63, 1))), inTheWay, "receive", 1, at(region, 63), "receive", 0x10, srq, 64, at(region, 0))
	}},
	{Name: "receive into what is being sent", Posts: 1, Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		r.posted(qp.PostSend(r.sends(ibv.WRRDMAWrite, 0, region.SGE(0, 64))))
		return recv(qp, r.recvs(list(region.SGE(8, 8))), inTheWay, "receive", 8, at(region, 8), "send", 0x20, qp, 64, at(region, 0))
	}},
	{Name: "send of what is being received", Posts: 1, Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		r.posted(qp.PostRecv(r.recvs(list(region.SGE(0, 64)))))
		return send(qp, r.sends(ibv.WRSend, 0, region.SGE(8, 8)), inTheWay, "send", 8, at(region, 8), "receive", 0x10, qp, 64, at(region, 0))
	}},
	{Name: "receive into what is being read", Posts: 1, Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		r.posted(qp.PostSend(r.sends(ibv.WRRDMARead, 0, region.SGE(0, 64))))
		return recv(qp, r.recvs(list(region.SGE(8, 8))), inTheWay, "receive", 8, at(region, 8), "send", 0x20, qp, 64, at(region, 0))
	}},
	{Name: "send of what is being read, without a fence", Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		c := r.sends(ibv.WRRDMARead, 0, region.SGE(0, 64), region.SGE(0, 64))
		c.WR(1).Opcode = ibv.WRSend
		return send(qp, c, inTheWay, "send", 64, at(region, 0), "send", 0x20, qp, 64, at(region, 0))
	}},
}

var depths = []Mistake{
	{Name: "more receives than the queue holds", Errno: syscall.ENOMEM, Posts: 1, Make: func(r *Rig) Made {
		qp := r.rts()
		most := int(qp.Cap().MaxRecvWR)
		r.posted(qp.PostRecv(r.recvs(make([][]ibv.SGE, most)...)))
		return recv(qp, r.recvs(list()), "%d work requests are outstanding, and it holds %[1]d: poll their completions first", most)
	}},
	{Name: "more receives than the shared queue holds", Errno: syscall.ENOMEM, Posts: 1, Make: func(r *Rig) Made {
		srq, most := r.srq(4, 1), r.Receives(4)
		_, err := srq.PostRecv(r.recvs(make([][]ibv.SGE, most)...))
		require.NoError(r.T, err)
		n, err := srq.PostRecv(r.recvs(list()))
		return Made{srq, n, err, "post receives to %v: %v; " + fmt.Sprintf("%d work requests are outstanding, and it holds %[1]d: poll their completions first", most)}
	}},
	{Name: "list that the queue does not hold", Errno: syscall.ENOMEM, Posts: 1, Make: func(r *Rig) Made {
		qp := r.rts()
		most := int(qp.Cap().MaxRecvWR)
		made := recv(qp, r.recvs(make([][]ibv.SGE, most+1)...), "%d work requests are outstanding, and it holds %[1]d: poll their completions first", most)
		made.Accepted -= most
		return made
	}},
	{Name: "sends whose end nobody will tell", Errno: syscall.ENOMEM, Posts: 1, Make: func(r *Rig) Made {
		qp, region := r.rts(), r.region(64)
		most := int(qp.Cap().MaxSendWR)
		sges := make([]ibv.SGE, most)
		for i := range sges {
			sges[i] = region.SGE(0, 8)
		}
		r.posted(qp.PostSend(r.sends(ibv.WRSend, 0, sges...)))
		return send(qp, r.sends(ibv.WRSend, ibv.SendSignaled, sges[0]),
			"%d work requests are outstanding, it holds %[1]d, and none of them is signalled: no completion will ever tell that they are done", most)
	}},
	{Name: "completion queue that is too small", Make: func(r *Rig) Made {
		cq := r.cq(4)
		_, err := r.PD.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: cq})
		return Made{cq, 0, err, "make queue pair with %v: %v; it has room for " + fmt.Sprint(r.Entries(4)) + " completions, and the queues that complete on it may have 128 at once: make it larger"}
	}},
	{Name: "completion queue that is too small for two", Make: func(r *Rig) Made {
		cq := r.cq(130)
		cap := ibv.QPCap{MaxSendWR: 100, MaxRecvWR: 200, MaxSendSGE: 1, MaxRecvSGE: 1}
		r.QP(r.PD, rdma.QPOptions{SendCQ: cq, RecvCQ: r.cq(200), Cap: cap}, ibv.QPSReset)
		cap.MaxSendWR = 200
		_, err := r.PD.CreateQP(rdma.QPOptions{SendCQ: cq, RecvCQ: r.cq(200), Cap: cap})
		return Made{cq, 0, err, "make queue pair with %v: %v; it has room for " + fmt.Sprint(r.Entries(130)) + " completions, and the queues that complete on it may have 300 at once: make it larger"}
	}},
	{Name: "completion queue that is smaller than the shared queue", Make: func(r *Rig) Made {
		cq, srq := r.cq(4), r.srq(100, 1)
		_, err := r.PD.CreateQP(rdma.QPOptions{SendCQ: r.cq(64), RecvCQ: cq, SRQ: srq})
		return Made{cq, 0, err, "make queue pair with %v: %v; it has room for " + fmt.Sprint(r.Entries(4)) + " completions, and the queues that complete on it may have " + fmt.Sprint(r.Receives(100)) + " at once: make it larger"}
	}},
	{Name: "completion queue that is made too small", Make: func(r *Rig) Made {
		cq := r.cq(64)
		r.QP(r.PD, rdma.QPOptions{SendCQ: cq, RecvCQ: cq, Cap: ibv.QPCap{MaxSendWR: 3, MaxRecvWR: 2}}, ibv.QPSInit)
		return Made{cq, 0, cq.Resize(4), "resize %v: %v; it has room for 4 completions, and the queues that complete on it may have 5 at once: make it larger"}
	}},
	{Name: "shared queue that is made larger than its completion queue", Make: func(r *Rig) Made {
		cq, srq := r.cq(8), r.srq(4, 1)
		r.QP(r.PD, rdma.QPOptions{SendCQ: cq, RecvCQ: cq, SRQ: srq, Cap: ibv.QPCap{MaxSendWR: 1}}, ibv.QPSInit)
		has := cq.Entries()
		return Made{srq, 0, srq.Modify(ibv.SRQAttr{MaxWR: uint32(has)}, ibv.SRQMaxWR), "modify %v: %v; " + fmt.Sprintf(
			"with room for %d receives it is too large for %v: it has room for %[1]d completions, and the queues that complete on it may have %[3]d at once: make it larger", has, cq, has+1)}
	}},
	{Name: "post to a closed queue pair", Make: func(r *Rig) Made {
		qp := r.rts()
		require.NoError(r.T, qp.Close())
		n, err := qp.PostRecv(r.recvs(list()))
		return Made{qp, n, err, "post receives to %v: it is closed%.0s"}
	}},
}
