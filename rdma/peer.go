package rdma

import (
	"fmt"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/words"
)

// Peer is the other end of a connected queue pair, as it describes itself. The
// two ends tell each other by other means: a socket, or librdmacm. As text, and
// so in JSON, it is one line: see [Peer.String].
type Peer struct {
	// QPNum is the number of its queue pair, 24 bits.
	QPNum uint32
	// PSN is the packet sequence number that it starts to send with, 24 bits.
	PSN uint32
	// GID is what it sends from. RoCE needs it; zero leaves it out.
	GID ibv.GID
	// LID is its port's, which only InfiniBand has.
	LID uint16
}

// String is the peer as one line: qpn=0x11 psn=0x123456 lid=0 gid=::ffff:192.0.2.1.
func (p Peer) String() string {
	return fmt.Sprintf("qpn=%#x psn=%#x lid=%d gid=%v", p.QPNum, p.PSN, p.LID, p.GID)
}

// MarshalText is String for the packages that write text, such as encoding/json.
// A number of more than 24 bits is an error.
func (p Peer) MarshalText() ([]byte, error) {
	if err := p.check(); err != nil {
		return nil, fmt.Errorf("rdma: write a peer: its %w", err)
	}
	return []byte(p.String()), nil
}

// UnmarshalText reads what MarshalText writes, with the words in any order, and
// numbers in any base that Go has. Anything else is an error, and changes nothing.
func (p *Peer) UnmarshalText(text []byte) error {
	var read Peer
	err := words.Read(text, map[string]any{"qpn": &read.QPNum, "psn": &read.PSN, "lid": &read.LID, "gid": &read.GID})
	if err == nil {
		err = read.check()
	}
	if err != nil {
		return fmt.Errorf("rdma: read a peer from %.100q: %w", text, err)
	}
	*p = read
	return nil
}

// check refuses numbers that have more bits than packets do.
func (p Peer) check() error {
	switch {
	case p.QPNum > max24:
		return fmt.Errorf("queue pair number is %#x: it has 24 bits", p.QPNum)
	case p.PSN > max24:
		return fmt.Errorf("packet sequence number is %#x: it has 24 bits", p.PSN)
	}
	return nil
}
