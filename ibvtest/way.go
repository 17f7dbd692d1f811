//go:build !freebsd

package ibvtest

import (
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// refusesWay is why nothing can go the way that an address says, or 0.
func (d *device) refusesWay(way *ibv.AHAttr) syscall.Errno {
	p := d.port(uint32(way.PortNum))
	switch {
	case p == nil || way.SL > 15:
		return syscall.EINVAL
	case way.IsGlobal == 0 && d.f.infiniband:
		return 0
	case way.IsGlobal == 0 || way.GRH.DGID.IsZero() || way.GRH.FlowLabel>>20 != 0: // RoCE has no other addresses than GIDs
		return syscall.EINVAL
	}
	own, errno := p.gid(uint32(way.GRH.SGIDIndex))
	if errno != 0 {
		return errno
	}
	if theirs := way.GRH.DGID; !d.f.infiniband && own.GID.Addr().Is4In6() != theirs.Addr().Is4In6() {
		return syscall.EINVAL // an IPv4 address does not reach an IPv6 one, nor the reverse
	}
	return 0
}

// at is the port of the fabric's that a way from this device leads to, or nil if there is none, as of multicast.
func (d *device) at(way *ibv.AHAttr) *port {
	for _, there := range d.f.devices {
		for _, p := range there.ports {
			if way.IsGlobal == 0 {
				if way.DLID == p.attr.LID {
					return p
				}
				continue
			}
			for i := range p.gids {
				if p.gids[i].GID == way.GRH.DGID {
					return p
				}
			}
		}
	}
	return nil
}
