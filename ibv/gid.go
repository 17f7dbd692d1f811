package ibv

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"syscall"
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

// MarshalText is String for the packages that write text, such as encoding/json.
func (s GID) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads a GID in the notation of IPv6 addresses, or an IPv4
// address, which is mapped. Anything else is an error, and changes nothing.
func (s *GID) UnmarshalText(text []byte) error {
	a, err := netip.ParseAddr(string(text))
	if err != nil || a.Zone() != "" {
		return fmt.Errorf("ibv: read a GID from %.100q: it is no IPv6 or IPv4 address without a zone", text)
	}
	*s = GIDOf(a)
	return nil
}

// MarshalBinary is the 16 bytes of the GID, for encoding/gob.
func (s GID) MarshalBinary() ([]byte, error) { return s.Raw()[:], nil }

// UnmarshalBinary reads what MarshalBinary writes. Anything else is an error, and
// changes nothing.
func (s *GID) UnmarshalBinary(data []byte) error {
	if len(data) != len(s.Raw()) {
		return fmt.Errorf("ibv: read a GID from %d bytes: it has %d", len(data), len(s.Raw()))
	}
	copy(s.Raw()[:], data)
	return nil
}

// IsZero reports whether the GID is all zeros, as an empty table entry is.
func (s GID) IsZero() bool { return *s.Raw() == [16]byte{} }

// QueryGID reads an entry of a port's GID table. Ports count from 1, entries from
// 0. It may be called from any goroutine.
//
// C: ibv_query_gid(3)
func (ctx *Context) QueryGID(port, index uint32) (GID, error) {
	act := ctx.action(fmt.Sprintf("query GID %d of port %d", index, port), gidHints)
	if err := act.checkGID(port, index); err != nil {
		return GID{}, err
	}
	gid := new(GID)
	err := cQueryGID(ctx, uint8(port), int32(index), gid)
	return *gid, act.from(err)
}

// QueryGIDEntry reads an entry of a port's GID table with its type. An empty entry
// is the error syscall.ENODATA; on FreeBSD, where goverbs puts the answer together
// from two others, it is syscall.ENOENT, and NdevIfindex stays 0. It may be called
// from any goroutine.
//
// C: ibv_query_gid_ex(3), _ibv_query_gid_ex; flags is 0
func (ctx *Context) QueryGIDEntry(port, index uint32) (GIDEntry, error) {
	act := ctx.action(fmt.Sprintf("query entry %d of the GIDs of port %d", index, port), gidHints)
	if err := act.checkGID(port, index); err != nil {
		return GIDEntry{}, err
	}
	return ctx.queryGIDEntry(act, port, index)
}

// checkGID refuses what does not fit C's numbers.
func (a action) checkGID(port, index uint32) error {
	if err := a.checkPort(port); err != nil {
		return err
	}
	if index > math.MaxInt32 {
		return a.invalid("%s", gidHints[syscall.EINVAL])
	}
	return nil
}

// String is the GID, where it stands and its type.
func (s GIDEntry) String() string {
	return fmt.Sprintf("%v (index %d of port %d, %v)", s.GID, s.GIDIndex, s.PortNum, s.GIDType)
}

var gidHints = map[syscall.Errno]string{
	syscall.EINVAL: hintPorts + ", entries from 0 to PortAttr.GIDTblLen-1",
	noEntry:        "the table has no entry there",
}

// GIDs lists the entries of a port's GID table that are not empty. It may be
// called from any goroutine.
func (ctx *Context) GIDs(port uint32) ([]GIDEntry, error) {
	attr, err := ctx.QueryPort(port)
	if err != nil {
		return nil, err
	}
	if entries, ok := ctx.gidTable(port, &attr); ok {
		return entries, nil
	}
	var entries []GIDEntry
	for i := range uint32(max(attr.GIDTblLen, 0)) {
		entry, err := ctx.QueryGIDEntry(port, i)
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
func (ctx *Context) BestGID(port uint32) (GIDEntry, error) {
	entries, err := ctx.GIDs(port)
	if err != nil {
		return GIDEntry{}, err
	}
	best, ok := BestGIDOf(entries)
	if !ok {
		return GIDEntry{}, ctx.action("find a GID", nil).because(noEntry, "the port's GID table is empty: give its network interface an address")
	}
	return best, nil
}

// BestGIDOf is the entry that [Context.BestGID] would prefer, the first of equals,
// and whether there is any.
func BestGIDOf(entries []GIDEntry) (best GIDEntry, ok bool) {
	score := 0
	for _, e := range entries {
		if s := rankGID(&e); s > score {
			best, score = e, s
		}
	}
	return best, score > 0
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
