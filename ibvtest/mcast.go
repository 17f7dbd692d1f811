//go:build !freebsd

package ibvtest

import (
	"slices"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// group is a multicast group.
type group struct {
	gid ibv.GID
	lid uint16 // 0 with RoCE, which does not look at it
}

func init() {
	symbols["ibv_attach_mcast"] = attachMcast
	symbols["ibv_detach_mcast"] = detachMcast
}

// groupOf is the group that a call names.
func (d *device) groupOf(a ccall.Args) group {
	g := group{*of[ibv.GID](a[1]), uint16(a[2])}
	if !d.f.infiniband {
		g.lid = 0
	}
	return g
}

// valid reports whether it is a multicast group, and not some port.
func (g group) valid(d *device) bool {
	// Of the LIDs, multicast has those above; the last one is the permissive one.
	return g.gid.Addr().Unmap().IsMulticast() && (!d.f.infiniband || g.lid >= 0xc000 && g.lid < 0xffff)
}

func attachMcast(a ccall.Args) (uintptr, syscall.Errno) {
	qp := of[queuePair](a[0])
	d := qp.ctx.dev
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	g := d.groupOf(a)
	members := d.groups[g]
	total := 0
	for _, all := range d.groups {
		total += len(all)
	}
	switch {
	case qp.raw.QPBase.QPType != ibv.QPTUD || !g.valid(d):
		return uintptr(syscall.EINVAL), 0
	case slices.Contains(members, qp):
		return 0, 0
	case members == nil && len(d.groups) >= int(d.attr.MaxMcastGrp), len(members) >= int(d.attr.MaxMcastQPAttach), total >= int(d.attr.MaxTotalMcastQPAttach):
		return uintptr(syscall.ENOMEM), 0
	}
	d.groups[g] = append(members, qp)
	qp.groups++
	return 0, 0
}

func detachMcast(a ccall.Args) (uintptr, syscall.Errno) {
	qp := of[queuePair](a[0])
	d := qp.ctx.dev
	d.f.mu.Lock()
	defer d.f.mu.Unlock()
	if !qp.leave(d.groupOf(a)) {
		return uintptr(syscall.EINVAL), 0
	}
	return 0, 0
}

// leave takes the queue pair out of a group, if it is in there.
func (qp *queuePair) leave(g group) bool {
	d := qp.ctx.dev
	i := slices.Index(d.groups[g], qp)
	if i < 0 {
		return false
	}
	qp.groups--
	if d.groups[g] = slices.Delete(d.groups[g], i, i+1); len(d.groups[g]) == 0 {
		delete(d.groups, g)
	}
	return true
}

// leaveAll takes the queue pair out of all groups.
func (qp *queuePair) leaveAll() {
	for g := range qp.ctx.dev.groups {
		qp.leave(g)
	}
}
