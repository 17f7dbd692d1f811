//go:build !freebsd

package ibvtest

import (
	"net/netip"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/ccall"
)

// port is a port of a device.
type port struct {
	dev    *device
	number int            // from 1
	attr   ibv.PortAttr   // the lock guards it
	gids   []ibv.GIDEntry // those that are not empty, by their index
	pkeys  []uint16
}

// What ports say of their links.
const (
	linkDisabled = 3
	linkUp       = 5
)

// Of a port's tables.
const (
	gidEntries  = 16
	pkeyEntries = 4
)

// InfiniBand has the ports of the fabric's devices be InfiniBand's: with LIDs, one
// GID each, and no need for a GRH. Without it they are RoCE's.
func InfiniBand() Option { return func(c *config) { c.infiniband = true } }

func newPort(d *device, number int) *port {
	p := &port{dev: d, number: number, pkeys: []uint16{0xffff}}
	p.attr = ibv.PortAttr{
		State: ibv.PortActive, PhysState: linkUp, MaxMTU: ibv.MTU4096, ActiveMTU: ibv.MTU4096, GIDTblLen: gidEntries, PKeyTblLen: pkeyEntries,
		MaxMsgSz: 1 << 31, MaxVLNum: 1, ActiveWidth: 2, ActiveSpeed: 32, LinkLayer: ibv.LinkLayerEthernet,
	}
	var local ibv.GID // of the link: its EUI-64 differs from the device's in what tells ports apart
	bytes := local.Raw()
	bytes[0], bytes[1] = 0xfe, 0x80
	*(*ibv.BE64)(unsafe.Pointer(&bytes[8])) = ibv.ToBE64(d.guid() | uint64(number)) // safe: a GID is as aligned as its member of 64 bits
	ip := ibv.GIDOf(netip.AddrFrom4([4]byte{10, 128 | byte(d.number>>8), byte(d.number), byte(number)}))
	switch {
	case d.f.infiniband:
		p.attr.LinkLayer = ibv.LinkLayerInfiniband
		p.attr.LID, p.attr.SMLID, p.attr.SubnetTimeout = uint16(d.number%3000)<<4|uint16(number), 1, 18
		p.add(local, ibv.GIDTypeIB)
	case d.f.provider.IWARP:
		p.attr.GIDTblLen, p.attr.PKeyTblLen = 1, 1
		p.add(local, ibv.GIDTypeIB)
	default:
		for _, gid := range []ibv.GID{local, ip} {
			p.add(gid, ibv.GIDTypeRoCEV1)
			p.add(gid, ibv.GIDTypeRoCEV2)
		}
	}
	return p
}

func (p *port) add(gid ibv.GID, typ ibv.GIDType) {
	p.gids = append(p.gids, ibv.GIDEntry{GID: gid, GIDIndex: uint32(len(p.gids)), PortNum: uint32(p.number), GIDType: typ})
}

// gid is an entry of the port's table. The reason why there is none is ENODATA of an empty one, and EINVAL where there is no
// such index.
func (p *port) gid(index uint32) (ibv.GIDEntry, syscall.Errno) {
	switch {
	case int64(index) >= int64(p.attr.GIDTblLen):
		return ibv.GIDEntry{}, syscall.EINVAL
	case int(index) >= len(p.gids):
		return ibv.GIDEntry{}, noData
	}
	return p.gids[index], 0
}

// mac is the port's Ethernet address, which its link-local GID is made of.
func (p *port) mac() []byte {
	gid := p.gids[0].GID.Raw()
	return []byte{gid[8] ^ 2, gid[9], gid[10], gid[13], gid[14], gid[15]}
}

// up reports whether messages go through the port, which may be nil.
func (p *port) up() bool { return p != nil && p.attr.State == ibv.PortActive && !p.dev.gone.Load() }

// port is the port with a number, or nil.
func (d *device) port(number uint32) *port {
	if number == 0 || int(number) > len(d.ports) {
		return nil
	}
	return d.ports[number-1]
}

func init() {
	symbols["ibv_query_port"] = func(a ccall.Args) (uintptr, syscall.Errno) {
		a[3] = unsafe.Sizeof(ibv.CompatIbvPortAttr{}) // the symbol is from before there was more
		return queryPort(a)
	}
	symbols["ibv_query_port_speed"] = queryPortSpeed
	symbols["ibv_query_gid"] = queryGID
	symbols["_ibv_query_gid_ex"] = queryGIDEntry
	symbols["_ibv_query_gid_table"] = queryGIDTable
	symbols["ibv_query_pkey"] = queryPKey
	symbols["ibv_get_pkey_index"] = getPKeyIndex
	equip = append(equip, func(v *ibv.VerbsContext) { v.QueryPort = opQueryPort })
}

var opQueryPort = operation("query_port", queryPort)

// portAt is the port that a call is about, or nil.
func portAt(a ccall.Args) *port { return contextAt(a[0]).dev.port(uint32(uint8(a[1]))) }

func queryPort(a ccall.Args) (uintptr, syscall.Errno) {
	p := portAt(a)
	if p == nil {
		return uintptr(syscall.EINVAL), 0
	}
	p.dev.f.mu.Lock()
	defer p.dev.f.mu.Unlock()
	fill(a[2], &p.attr, a[3])
	return 0, 0
}

// queryPortSpeed counts in units of 100 Mb/s: four lanes of 25 Gb/s.
func queryPortSpeed(a ccall.Args) (uintptr, syscall.Errno) {
	if contextAt(a[0]).dev.port(uint32(a[1])) == nil {
		return uintptr(syscall.EINVAL), 0
	}
	*of[uint64](a[2]) = 4 * 250
	return 0, 0
}

func queryGID(a ccall.Args) (uintptr, syscall.Errno) {
	p := portAt(a)
	if p == nil {
		return failed, syscall.EINVAL
	}
	entry, errno := p.gid(uint32(a[2]))
	if errno == syscall.EINVAL {
		return failed, errno
	}
	*of[ibv.GID](a[3]) = entry.GID // an empty one is all zeros
	return 0, 0
}

func queryGIDEntry(a ccall.Args) (uintptr, syscall.Errno) {
	p := contextAt(a[0]).dev.port(uint32(a[1]))
	if p == nil || a[4] != 0 { // there are no flags yet
		return uintptr(syscall.EINVAL), 0
	}
	entry, errno := p.gid(uint32(a[2]))
	if errno == 0 {
		fill(a[3], &entry, a[5])
	}
	return uintptr(errno), 0
}

func queryGIDTable(a ccall.Args) (uintptr, syscall.Errno) {
	at, room, size := a[1], a[2], a[4]
	var n uintptr
	for _, p := range contextAt(a[0]).dev.ports {
		for _, entry := range p.gids {
			if n == room || a[3] != 0 {
				return minus(syscall.EINVAL), 0
			}
			fill(at+n*size, &entry, size)
			n++
		}
	}
	return n, 0
}

// pkey is an entry of the port's table; 0 is an empty one.
func (p *port) pkey(index int) uint16 {
	if index < len(p.pkeys) {
		return p.pkeys[index]
	}
	return 0
}

func queryPKey(a ccall.Args) (uintptr, syscall.Errno) {
	p, index := portAt(a), int32(a[2])
	if p == nil || index < 0 || index >= int32(p.attr.PKeyTblLen) {
		return failed, syscall.ENOENT
	}
	*of[ibv.BE16](a[3]) = ibv.ToBE16(p.pkey(int(index)))
	return 0, 0
}

func getPKeyIndex(a ccall.Args) (uintptr, syscall.Errno) {
	p, wanted := portAt(a), ibv.BE16(a[2]).Host()
	if p != nil {
		for i := range int(p.attr.PKeyTblLen) {
			if p.pkey(i) == wanted {
				return uintptr(i), 0
			}
		}
	}
	return failed, syscall.ENOENT
}
