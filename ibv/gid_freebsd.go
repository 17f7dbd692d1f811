package ibv

import (
	"strconv"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// GIDType is what packets look like that use a GID. FreeBSD's libibverbs has no
// such enumeration for programs; this is rdma-core's, for programs that run on
// both.
type GIDType uint32

// The values of GIDType.
const (
	// InfiniBand's own.
	GIDTypeIB GIDType = 0 // IBV_GID_TYPE_IB

	// An Ethernet frame with a GRH; it cannot leave the VLAN.
	GIDTypeRoCEV1 GIDType = 1 // IBV_GID_TYPE_ROCE_V1

	// UDP over IPv4 or IPv6, port 4791; it can be routed.
	GIDTypeRoCEV2 GIDType = 2 // IBV_GID_TYPE_ROCE_V2
)

// String is C's name for v, or its number where C has none.
func (v GIDType) String() string {
	switch v {
	case GIDTypeIB:
		return "IBV_GID_TYPE_IB"
	case GIDTypeRoCEV1:
		return "IBV_GID_TYPE_ROCE_V1"
	case GIDTypeRoCEV2:
		return "IBV_GID_TYPE_ROCE_V2"
	}
	return "GIDType(" + strconv.FormatUint(uint64(v), 10) + ")"
}

// GIDEntry is an entry of a port's GID table. FreeBSD's libibverbs has no such
// struct: [Context.QueryGIDEntry] fills it.
type GIDEntry struct {
	// The GID.
	GID GID

	// Where in the table it stands, from 0; this is what GlobalRoute's SGIDIndex wants.
	GIDIndex uint32

	// The port, from 1.
	PortNum uint32

	// What packets with it look like.
	GIDType GIDType

	// Always 0: FreeBSD's libibverbs does not tell the network interface.
	NdevIfindex uint32
}

// symbolQueryGIDType is int ibv_query_gid_type(struct ibv_context *, uint8_t, unsigned
// int, enum ibv_gid_type *). The library keeps it for its providers, and no header
// for programs declares it.
var symbolQueryGIDType = clib.Function{Library: &cLibrary, Name: "ibv_query_gid_type"}

// isRoCEV2 is what it says of an entry for RoCE v2. Its one other answer is for
// InfiniBand and for RoCE v1.
const isRoCEV2 = 1

// queryGIDEntry is what QueryGIDEntry does on FreeBSD.
func (ctx *Context) queryGIDEntry(act action, port, index uint32) (GIDEntry, error) {
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return GIDEntry{}, err
	}
	gid, version := new(GID), new(int32)
	if err := cQueryGID(ctx, uint8(port), int32(index), gid); err != nil {
		return GIDEntry{}, act.from(err)
	}
	if gid.IsZero() {
		return GIDEntry{}, act.failed(noEntry)
	}
	if err := symbolQueryGIDType.Errno(uintptr(unsafe.Pointer(ctx)), uintptr(port), uintptr(index), uintptr(unsafe.Pointer(version))); err != nil {
		return GIDEntry{}, act.from(err)
	}
	entry := GIDEntry{GID: *gid, GIDIndex: index, PortNum: port}
	switch {
	case *version == isRoCEV2:
		entry.GIDType = GIDTypeRoCEV2
	case attr.LinkLayer == LinkLayerEthernet:
		entry.GIDType = GIDTypeRoCEV1
	}
	return entry, nil
}

// gidTable is not to be had on FreeBSD.
func (ctx *Context) gidTable(uint32, *PortAttr) ([]GIDEntry, bool) { return nil, false }
