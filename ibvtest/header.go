//go:build !freebsd

package ibvtest

import (
	"encoding/binary"

	"github.com/goverbs/goverbs/ibv"
)

const (
	ip4Length = 20
	udp       = 17
	bth       = 0x1b // InfiniBand's transport
	rocePort  = 8    // bytes of UDP's header
	// What follows a global header in a datagram besides the data: BTH, DETH and ICRC.
	around = 12 + 8 + 4
)

// header writes what is in front of a datagram of n bytes in its receiver's buffer: a GRH, or over IPv4 that packet's
// header, at the end. What nothing is said of is not zero, since hardware leaves there what it likes.
func (w *sendWork) header(d *device, n uint32, to *[ibv.GRHLength]byte) {
	for i := range to {
		to[i] = byte(0xa5 + 37*i)
	}
	route := &w.way.GRH
	own, errno := d.port(uint32(w.way.PortNum)).gid(uint32(route.SGIDIndex))
	if w.way.IsGlobal == 0 || errno != 0 {
		return
	}
	length := (n+3)&^3 + around
	if w.wr.Opcode == ibv.WRSendWithImm {
		length += 4
	}
	next := byte(bth)
	if own.GIDType == ibv.GIDTypeRoCEV2 {
		next, length = udp, length+rocePort
	}
	from, there := own.GID.Raw(), route.DGID.Raw()
	if own.GIDType == ibv.GIDTypeRoCEV2 && own.GID.Addr().Is4In6() {
		ip := to[ibv.GRHLength-ip4Length:]
		ip[0], ip[1] = 4<<4|ip4Length/4, route.TrafficClass
		binary.BigEndian.PutUint16(ip[2:], uint16(ip4Length+length))
		ip[4], ip[5], ip[6], ip[7] = 0, 0, 0x40, 0 // not to be fragmented
		ip[8], ip[9], ip[10], ip[11] = route.HopLimit, next, 0, 0
		copy(ip[12:16], from[12:])
		copy(ip[16:20], there[12:])
		binary.BigEndian.PutUint16(ip[10:], checksum(ip))
		return
	}
	binary.BigEndian.PutUint32(to[0:], 6<<28|uint32(route.TrafficClass)<<20|route.FlowLabel)
	binary.BigEndian.PutUint16(to[4:], uint16(length))
	to[6], to[7] = next, route.HopLimit
	copy(to[8:24], from[:])
	copy(to[24:40], there[:])
}
