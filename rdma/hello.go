package rdma

import (
	"encoding/binary"
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

// hello is what an end tells of itself.
type hello struct {
	typ    ibv.QPType
	link   uint8 // ibv.LinkLayer…
	mtu    ibv.MTU
	kind   ibv.GIDType // of gid
	reads  uint8       // RDMA reads and atomics that it can answer at a time
	asks   uint8       // and that it wants to have outstanding
	access ibv.AccessFlags
	qkey   uint32
	peer   Peer
	nonce  [16]byte // tells an end from its own reflection
	data   []byte   // the application's
}

// body is the hello as the body of its frame.
func (h *hello) body() []byte {
	b := make([]byte, 0, helloLength+len(h.data))
	b = binary.BigEndian.AppendUint32(b, uint32(h.typ))
	b = append(b, h.link, uint8(h.mtu), h.reads, h.asks)
	b = binary.BigEndian.AppendUint32(b, uint32(h.access))
	b = binary.BigEndian.AppendUint32(b, h.qkey)
	b = binary.BigEndian.AppendUint32(b, h.peer.QPNum)
	b = binary.BigEndian.AppendUint32(b, h.peer.PSN)
	b = binary.BigEndian.AppendUint32(b, uint32(h.peer.LID))
	b = binary.BigEndian.AppendUint32(b, uint32(h.kind))
	b = append(b, h.peer.GID.Raw()[:]...)
	b = append(b, h.nonce[:]...)
	b = binary.BigEndian.AppendUint32(b, uint32(len(h.data)))
	return append(b, h.data...)
}

// parseHello is the hello of a frame's body, which may be anything.
func parseHello(b []byte) (*hello, error) {
	if len(b) < helloLength {
		return nil, protocolError("the peer's hello has %d bytes, and needs %d", len(b), helloLength)
	}
	word := func(at int) uint32 { return binary.BigEndian.Uint32(b[at:]) }
	h := &hello{
		typ: ibv.QPType(word(0)), link: b[4], mtu: ibv.MTU(b[5]), reads: b[6], asks: b[7],
		access: ibv.AccessFlags(word(8)), qkey: word(12),
		peer: Peer{QPNum: word(16), PSN: word(20), LID: uint16(word(24))},
		kind: ibv.GIDType(word(28)),
	}
	copy(h.peer.GID.Raw()[:], b[32:])
	copy(h.nonce[:], b[48:])
	if n := word(64); uint64(n) != uint64(len(b)-helloLength) || n > maxData {
		return nil, protocolError("the peer's hello announces %d bytes of data, and has %d", n, len(b)-helloLength)
	}
	if word(24) > 0xffff {
		return nil, protocolError("the peer's LID is %#x: it has 16 bits", word(24))
	}
	h.data = b[helloLength:]
	return h, nil
}

// check is what is wrong with a hello, whoever receives it.
func (h *hello) check() error {
	_, known := qpTypeNames[h.typ]
	ethernet := h.link == ibv.LinkLayerEthernet
	gid := h.peer.GID.Addr()
	switch {
	case !known:
		return protocolError("the peer has a queue pair of type %v, which is not connected so", h.typ)
	case h.link != ibv.LinkLayerEthernet && h.link != ibv.LinkLayerInfiniband:
		return protocolError("the peer's link layer is %d, which is neither InfiniBand nor Ethernet", h.link)
	case h.mtu < ibv.MTU256 || h.mtu > ibv.MTU4096:
		return protocolError("the peer's MTU is %d, which is none of the values of MTU", uint32(h.mtu))
	case h.peer.QPNum < 2:
		return protocolError("the peer's queue pair has the number %d, which none has that can be connected", h.peer.QPNum)
	case ethernet && (h.peer.GID.IsZero() || gid.IsMulticast()):
		return protocolError("the peer's GID is %v, which is no port's", gid)
	case !ethernet && (h.peer.LID == 0 || h.peer.LID >= 0xc000):
		return protocolError("the peer's LID is %#x, which is no port's", h.peer.LID)
	}
	if err := h.peer.check(); err != nil {
		return protocolError("the peer's %w", err)
	}
	return nil
}

// qpTypeNames is the types that are connected by hellos.
var qpTypeNames = map[ibv.QPType]string{ibv.QPTRC: "RC", ibv.QPTUC: "UC", ibv.QPTUD: "UD"}

// agreement is what two hellos come to, the same at both ends.
type agreement struct {
	mtu   ibv.MTU
	reads uint8 // that this end answers, and the peer asks
	asks  uint8 // that this end asks, and the peer answers
	peer  Peer
}

// agree is the agreement of an end with its peer, or why there is none.
func (h *hello) agree(peer *hello) (agreement, error) {
	if peer.nonce == h.nonce {
		return agreement{}, protocolError("the connection leads back to this end: what it says is what comes")
	}
	if err := peer.check(); err != nil {
		return agreement{}, err
	}
	switch ours, theirs := h.peer.GID.Addr(), peer.peer.GID.Addr(); {
	case peer.typ != h.typ:
		return agreement{}, protocolError("the peer has a queue pair of type %s, and this end one of type %s", qpTypeNames[peer.typ], qpTypeNames[h.typ])
	case peer.link != h.link:
		return agreement{}, protocolError("one end is on InfiniBand and the other on Ethernet, which reach each other over no switch")
	case h.link == ibv.LinkLayerEthernet && peer.kind != h.kind:
		return agreement{}, protocolError("the peer sends as %v, and this end as %v: choose ConnectOptions.GID at one of them", peer.kind, h.kind)
	case h.link == ibv.LinkLayerEthernet && ours.Is4In6() != theirs.Is4In6():
		return agreement{}, protocolError("the peer sends from %v, and this end from %v: one is an IPv4 address, and the other is not; choose ConnectOptions.GID at one of them", theirs, ours)
	}
	a := agreement{mtu: min(h.mtu, peer.mtu), reads: min(h.reads, peer.asks), asks: min(h.asks, peer.reads), peer: peer.peer}
	if h.link == ibv.LinkLayerInfiniband {
		if ours, theirs := h.peer.GID.Raw(), peer.peer.GID.Raw(); string(ours[:8]) != string(theirs[:8]) {
			return agreement{}, protocolError("the peer is in the InfiniBand subnet %x, and this end in %x: librdmacm finds the way across routers", theirs[:8], ours[:8])
		}
		a.peer.GID = ibv.GID{} // no packet needs it within a subnet
	}
	return a, nil
}

// String says who it is.
func (h *hello) String() string { return fmt.Sprintf("%s %v", qpTypeNames[h.typ], h.peer) }
