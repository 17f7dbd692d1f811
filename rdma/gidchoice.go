package rdma

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// GIDChoice says which of a device's GIDs to use, that is, which address packets come
// from, and over which network. All that is set must fit. Of what fits, the best is
// chosen: RoCE v2 with an IPv4 address, else RoCE v2 with a routable address, else
// RoCE v2, else the first; and what belongs to an interface of the process's own
// network namespace comes before the rest. So the zero value is what most programs
// want: no index is the right one everywhere, and 0 may be a link-local address or
// RoCE v1.
type GIDChoice struct {
	// Interface is the name of the network interface, such as "eth0" or "bond0.7".
	Interface string
	// Addr is the address. An IPv4 address is the same as its mapped form, and a zone is
	// the interface's name or index.
	Addr netip.Addr
	// Port is the device's port, from 1, or 0 for all that are active.
	Port uint32
	// Type is what packets look like: GIDTypeRoCEV2 or GIDTypeRoCEV1. 0, which is
	// InfiniBand's own type, is any.
	Type ibv.GIDType
	// Index is where it stands in the port's table, from 0, for those who know.
	Index *uint32
}

// String is what the choice asks for.
func (c GIDChoice) String() string {
	var words []string
	say := func(is bool, format string, args ...any) {
		if is {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(c.Interface != "", "interface %s", c.Interface)
	say(c.Addr.IsValid(), "address %v", c.Addr)
	say(c.Port != 0, "port %d", c.Port)
	say(c.Type != 0, "type %v", c.Type)
	if c.Index != nil {
		say(true, "index %d", *c.Index)
	}
	if words == nil {
		return "any GID"
	}
	return "a GID of " + strings.Join(words, ", ")
}

// ChooseGID finds the GID to use: see [GIDChoice]. The error lists the GIDs that there
// are. If no port is active, it is syscall.ENETDOWN, and if nothing fits,
// syscall.EADDRNOTAVAIL.
func (d *Device) ChooseGID(choice GIDChoice) (entry ibv.GIDEntry, err error) {
	err = d.lifetime().during("choose a GID of", func() error {
		entry, err = d.chooseGID(choice)
		return err
	})
	return entry, err
}

func (d *Device) chooseGID(choice GIDChoice) (ibv.GIDEntry, error) {
	ports := []uint32{choice.Port}
	if choice.Port == 0 {
		var err error
		if ports, err = d.activePorts(); err != nil {
			return ibv.GIDEntry{}, err
		}
		if len(ports) == 0 {
			return ibv.GIDEntry{}, d.l.failed("choose a GID of", syscall.ENETDOWN, "none of its ports is active: see to its network interface or cable")
		}
	}
	var all []ibv.GIDEntry
	for _, port := range ports {
		entries, err := d.raw.GIDs(port)
		if err != nil {
			return ibv.GIDEntry{}, err
		}
		all = append(all, entries...)
	}
	nics, err := net.Interfaces()
	if err != nil && choice.asksForInterface() {
		return ibv.GIDEntry{}, d.l.failed("list the network interfaces for", err, "")
	}
	here := slices.DeleteFunc(slices.Clone(all), func(e ibv.GIDEntry) bool { return !isHere(&e, nics) })
	entry, hint := choice.of(here, nics)
	if hint != "" && !choice.asksForInterface() {
		entry, hint = choice.of(all, nics)
	}
	if hint != "" {
		return ibv.GIDEntry{}, d.l.failed("choose a GID of", syscall.EADDRNOTAVAIL, hint)
	}
	return entry, nil
}

// of is the best entry that fits, or why there is none.
func (c GIDChoice) of(all []ibv.GIDEntry, nics []net.Interface) (best ibv.GIDEntry, hint string) {
	if len(all) == 0 {
		return best, "the GID table is empty: give the network interface an address"
	}
	if best, ok := ibv.BestGIDOf(slices.DeleteFunc(slices.Clone(all), func(e ibv.GIDEntry) bool { return !c.fits(&e, nics) })); ok {
		return best, ""
	}
	const most = 16
	listed := make([]string, 0, most)
	for _, e := range all[:min(len(all), most)] {
		text := e.String()
		if name := interfaceName(&e, nics); name != "" {
			text = strings.TrimSuffix(text, ")") + ", " + name + ")"
		}
		listed = append(listed, text)
	}
	if len(all) > most {
		listed = append(listed, fmt.Sprintf("and %d more", len(all)-most))
	}
	return best, fmt.Sprintf("it has not %v; it has %s", c, strings.Join(listed, "; "))
}

func (c GIDChoice) asksForInterface() bool { return c.Interface != "" || c.Addr.Zone() != "" }

// fits reports whether the entry is what the choice asks for.
func (c GIDChoice) fits(e *ibv.GIDEntry, nics []net.Interface) bool {
	switch {
	case c.Port != 0 && e.PortNum != c.Port,
		c.Index != nil && e.GIDIndex != *c.Index,
		c.Type != 0 && e.GIDType != c.Type,
		c.Addr.IsValid() && e.GID != ibv.GIDOf(c.Addr):
		return false
	}
	return (c.Interface == "" || isOfAny(e, nics, func(nic *net.Interface) bool { return nic.Name == c.Interface })) &&
		(c.Addr.Zone() == "" || isOfAny(e, nics, zone(c.Addr.Zone(), nics)))
}

// zone finds a zone's network interface: the one of that name, else of that index.
func zone(zone string, nics []net.Interface) func(*net.Interface) bool {
	named := func(nic *net.Interface) bool { return nic.Name == zone }
	for i := range nics {
		if named(&nics[i]) {
			return named
		}
	}
	index, err := strconv.Atoi(zone)
	return func(nic *net.Interface) bool { return err == nil && nic.Index == index }
}

// isOfAny reports whether the entry is that of one of the interfaces that fit.
func isOfAny(e *ibv.GIDEntry, nics []net.Interface, fit func(*net.Interface) bool) bool {
	return slices.ContainsFunc(nics, func(nic net.Interface) bool { return fit(&nic) && isOf(e, &nic) })
}

func interfaceName(e *ibv.GIDEntry, nics []net.Interface) string {
	for i := range nics {
		if isOf(e, &nics[i]) {
			return nics[i].Name
		}
	}
	return ""
}

// isOf reports whether the entry is the network interface's. Where the kernel does
// not say, as with InfiniBand and on FreeBSD, the addresses do.
func isOf(e *ibv.GIDEntry, nic *net.Interface) bool {
	if e.NdevIfindex != 0 {
		return int64(e.NdevIfindex) == int64(nic.Index)
	}
	if hw, gid := nic.HardwareAddr, e.GID; len(hw) == 20 && string(hw[4:]) == string(gid.Raw()[:]) {
		return true // IP over InfiniBand: the address of the interface ends with the GID
	}
	return hasAddr(nic, e.GID)
}

// isHere reports whether an entry's network interface is one of this network
// namespace. Tables have those of all namespaces, each of which counts its interfaces
// from 1; so the interface has to have the address, or be what the kernel has made it
// from.
func isHere(e *ibv.GIDEntry, nics []net.Interface) bool {
	if e.NdevIfindex == 0 {
		return true // as far as is known
	}
	return slices.ContainsFunc(nics, func(nic net.Interface) bool {
		return isOf(e, &nic) && (hasAddr(&nic, e.GID) || string(e.GID.Raw()[8:]) == string(eui64(nic.HardwareAddr)))
	})
}

func hasAddr(nic *net.Interface, gid ibv.GID) bool {
	addrs, _ := nic.Addrs()
	return slices.ContainsFunc(addrs, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && ibv.GIDOf(prefix.Addr()) == gid
	})
}

// eui64 is the identifier of an interface that is made from a MAC address.
func eui64(mac net.HardwareAddr) []byte {
	if len(mac) != 6 {
		return nil
	}
	return []byte{mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]}
}
