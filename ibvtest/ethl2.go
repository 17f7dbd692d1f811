//go:build !freebsd

package ibvtest

import (
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() { symbols["ibv_resolve_eth_l2_from_gid"] = resolveEthL2 }

// resolveEthL2 finds the Ethernet address behind a GID. There are no VLANs.
func resolveEthL2(a ccall.Args) (uintptr, syscall.Errno) {
	d, way := contextAt(a[0]).dev, of[ibv.AHAttr](a[1])
	if errno := d.refusesWay(way); errno != 0 || d.f.infiniband {
		return uintptr(syscall.EINVAL), 0
	}
	mac, gid := unsafe.Slice(of[byte](a[2]), 6), way.GRH.DGID.Raw() // safe: C's address has as many bytes
	there := d.at(way)
	switch addr := way.GRH.DGID.Addr(); {
	case addr.Is4In6() && addr.Unmap().IsMulticast():
		copy(mac, []byte{1, 0, 0x5e, gid[13] & 0x7f, gid[14], gid[15]})
	case addr.IsMulticast():
		copy(mac, []byte{0x33, 0x33, gid[12], gid[13], gid[14], gid[15]})
	case there == nil:
		return uintptr(syscall.EHOSTUNREACH), 0
	default:
		copy(mac, there.mac())
	}
	*of[uint16](a[3]) = 0xffff
	return 0, 0
}
