//go:build !freebsd

package ibvtest

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

func init() {
	symbols["ibv_init_ah_from_wc"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		way, errno := contextAt(a[0]).dev.back(uint8(a[1]), of[ibv.WC](a[2]), of[ibv.GRH](a[3]))
		if errno != 0 {
			return failed, errno
		}
		*of[ibv.AHAttr](a[4]) = way
		return 0, 0
	}
	symbols["ibv_create_ah_from_wc"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		pd := of[domain](a[0])
		pd.ctx.f.mu.Lock()
		defer pd.ctx.f.mu.Unlock()
		way, errno := pd.ctx.dev.back(uint8(a[3]), of[ibv.WC](a[1]), of[ibv.GRH](a[2]))
		if errno != 0 {
			return null, errno
		}
		return pd.createAH(&way)
	}
}

// back is the way to the sender of what a completion is of, with the header at the start of its buffer.
func (d *device) back(port uint8, wc *ibv.WC, header *ibv.GRH) (ibv.AHAttr, syscall.Errno) {
	p := d.port(uint32(port))
	if p == nil {
		return ibv.AHAttr{}, syscall.EINVAL
	}
	way := ibv.AHAttr{DLID: wc.SLID, SL: wc.SL, SrcPathBits: wc.DLIDPathBits, PortNum: port}
	if wc.WCFlags&ibv.WCGRH == 0 {
		return way, 0
	}
	way.IsGlobal = 1
	sent, errno := readHeader(header)
	if errno != 0 {
		return ibv.AHAttr{}, errno
	}
	way.GRH = ibv.GlobalRoute{DGID: sent.from, FlowLabel: sent.flow, HopLimit: 0xff, TrafficClass: sent.class}
	for _, entry := range p.gids {
		// One address has an entry for each version of RoCE: that for the version of what came is wanted.
		if entry.GID == sent.to && (!sent.ip || entry.GIDType == ibv.GIDTypeRoCEV2) {
			way.GRH.SGIDIndex = uint8(entry.GIDIndex)
			return way, 0
		}
	}
	return ibv.AHAttr{}, syscall.EINVAL
}

// sent is what a header says of a packet.
type sent struct {
	from, to ibv.GID
	flow     uint32
	class    uint8
	ip       bool // IPv4, so the packet was one of RoCE v2
}

// readHeader reads a GRH, or what is in its place: over IPv4 that packet's header, in the last 20 bytes.
func readHeader(grh *ibv.GRH) (sent, syscall.Errno) {
	const length = 20
	// Safe: it is 40 bytes without pointers.
	ip4 := unsafe.Slice((*byte)(unsafe.Pointer(grh)), unsafe.Sizeof(*grh))[unsafe.Sizeof(*grh)-length:]
	switch {
	case ip4[0] == 4<<4|length/4 && checksum(ip4) == 0:
		gid := func(at int) ibv.GID { return ibv.GIDOf(netip.AddrFrom4([4]byte(ip4[at : at+4]))) }
		return sent{from: gid(12), to: gid(16), class: ip4[1], ip: true}, 0
	case grh.VersionTclassFlow.Host()>>28 == 6:
		v := grh.VersionTclassFlow.Host()
		return sent{from: grh.SGID, to: grh.DGID, flow: v & (1<<20 - 1), class: uint8(v >> 20)}, 0
	}
	return sent{}, syscall.EPROTONOSUPPORT
}

// checksum is IPv4's of a header: 0 of one that has it in its place.
func checksum(header []byte) uint16 {
	var sum uint32
	for i := 0; i < len(header); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(header[i:]))
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return ^uint16(sum)
}
