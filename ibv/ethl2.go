package ibv

import "syscall"

// ResolveEthL2 finds the Ethernet address, and the VLAN, of what attr.GRH.DGID
// names, as seen from attr.PortNum and its GID attr.GRH.SGIDIndex: what an
// address handle needs on RoCE, and its maker looks up by itself. The VLAN is
// 0xffff for none. It asks the network if the machine does not know, and waits
// up to 3 seconds. FreeBSD's libibverbs never finds it: the error is syscall.ENOSYS
// there. It may be called from any goroutine.
//
// C: ibv_resolve_eth_l2_from_gid
func (ctx *Context) ResolveEthL2(attr *AHAttr) (mac [6]byte, vlan uint16, err error) {
	act := ctx.action("resolve a GID to an Ethernet address", map[syscall.Errno]string{
		syscall.EINVAL:       "PortNum or GRH.SGIDIndex has no GID, or there is no route to GRH.DGID",
		syscall.EHOSTUNREACH: "nobody answers at the GID",
	})
	if attr == nil {
		return mac, 0, act.invalid("attributes are missing")
	}
	out := new(struct {
		mac  [6]byte
		vlan uint16
	})
	err = act.from(cResolveEthL2FromGID(ctx, attr, &out.mac[0], &out.vlan))
	return out.mac, out.vlan, err
}
