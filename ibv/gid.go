package ibv

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"syscall"
	"unsafe"
)

// Addr is the GID as the IPv6 address that it is, IPv4 ones mapped.
func (s GID) Addr() netip.Addr { return netip.AddrFrom16(*s.Raw()) }

// String is the GID in the notation of IPv6 addresses.
func (s GID) String() string { return s.Addr().String() }

// GIDOf is the GID with an IP address, as RoCE v2 has them.
func GIDOf(a netip.Addr) GID {
	var g GID
	*g.Raw() = a.As16()
	return g
}

// IsZero reports whether the GID is all zeros, as an empty table entry is.
func (s GID) IsZero() bool { return *s.Raw() == [16]byte{} }

// QueryGID reads an entry of a port's GID table, as ibv_query_gid(3) does.
// Ports count from 1, entries from 0. It may be called from any goroutine.
func (ctx *Context) QueryGID(port uint8, index int) (GID, error) {
	if index < 0 || index > math.MaxInt32 {
		return GID{}, ctx.action(fmt.Sprintf("query GID %d of port %d", index, port), nil).invalid("%s", gidHints[syscall.EINVAL])
	}
	gid := new(GID)
	act := ctx.action(fmt.Sprintf("query GID %d of port %d", index, port), gidHints)
	err := callInt(act, "ibv_query_gid", uintptr(unsafe.Pointer(ctx)), uintptr(port), uintptr(index), uintptr(unsafe.Pointer(gid)))
	return *gid, err
}

// QueryGIDEntry reads an entry of a port's GID table with its type, as
// ibv_query_gid_ex(3) does. An empty entry is the error syscall.ENODATA; on
// FreeBSD, where goverbs puts the answer together from two others, it is
// syscall.ENOENT, and NdevIfindex stays 0. It may be called from any goroutine.
func (ctx *Context) QueryGIDEntry(port, index uint32) (GIDEntry, error) {
	return ctx.queryGIDEntry(ctx.action(fmt.Sprintf("query entry %d of the GIDs of port %d", index, port), gidHints), port, index)
}

var gidHints = map[syscall.Errno]string{
	syscall.EINVAL: "ports count from 1 to DeviceAttr.PhysPortCnt, entries from 0 to PortAttr.GIDTblLen-1",
	noEntry:        "the table has no entry there",
}

// GIDs lists the entries of a port's GID table that are not empty. It may be
// called from any goroutine.
func (ctx *Context) GIDs(port uint8) ([]GIDEntry, error) {
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return nil, err
	}
	var entries []GIDEntry
	for i := range uint32(max(attr.GIDTblLen, 0)) {
		entry, err := ctx.QueryGIDEntry(uint32(port), i)
		switch {
		case errors.Is(err, noEntry):
		case err != nil:
			return nil, err
		default:
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// BestGID is the entry of a port's GID table that a program would use when
// nobody told it which: for RoCE v2 with an IPv4 address, else for RoCE v2 with
// a routable address, else for RoCE v2, else the first. Which index that is
// depends on the machine: index 0 may be a link-local address or RoCE v1.
func (ctx *Context) BestGID(port uint8) (GIDEntry, error) {
	entries, err := ctx.GIDs(port)
	if err != nil {
		return GIDEntry{}, err
	}
	var best GIDEntry
	score := 0
	for _, e := range entries {
		if s := rankGID(&e); s > score {
			best, score = e, s
		}
	}
	if score == 0 {
		return GIDEntry{}, ctx.action("find a GID", nil).because(noEntry, "the port's GID table is empty: give its network interface an address")
	}
	return best, nil
}

func rankGID(e *GIDEntry) int {
	switch a := e.GID.Addr(); {
	case GIDType(e.GIDType) != GIDTypeRoCEV2:
		return 1
	case a.Is4In6():
		return 4
	case !a.IsLinkLocalUnicast():
		return 3
	default:
		return 2
	}
}
