package rdma

import (
	"fmt"
	"math"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// AH is an address handle: the way to a port, for sends on UD queue pairs. Any
// number of chains and goroutines may use one.
type AH struct {
	_ noCopy

	raw *ibv.AH
	l   *life
	pd  *PD
}

// AHOptions say where sends go. GID or LID is needed.
type AHOptions struct {
	// GID is that of the port where sends go. With InfiniBand it is needed across
	// routers only.
	GID ibv.GID
	// LID is the port's with InfiniBand, or its router's.
	LID uint16
	// From is where sends come from: an entry that [Device.ChooseGID] finds, or the zero
	// value for the one that it finds when nothing is asked for.
	From ibv.GIDEntry
	// ServiceLevel is 0 to 15, and maps to a lane or a priority.
	ServiceLevel uint8
	// TrafficClass is RoCE v2's type of service, or IPv6's traffic class.
	TrafficClass uint8
	// HopLimit is how many routers a packet may pass, or 0 for 64.
	HopLimit uint8
	// FlowLabel has 20 bits, by which switches and routers may spread load.
	FlowLabel uint32
}

// CreateAH makes an address handle. The caller closes it, after the sends that name
// it have completed.
//
// C: ibv_create_ah(3)
func (pd *PD) CreateAH(to AHOptions) (*AH, error) {
	return pd.createAH(func() (*ibv.AH, error) {
		if to.From.PortNum == 0 {
			from, err := pd.dev.chooseGID(GIDChoice{})
			if err != nil {
				return nil, err
			}
			to.From = from
		}
		attr, err := to.attr(pd)
		if err != nil {
			return nil, err
		}
		return pd.raw.CreateAH(&attr)
	})
}

// CreateAHFromWC makes an address handle for answers to the sender of a message on a
// UD queue pair. wc is its completion, grh what stands before it in the receive's
// buffer, as [ibv.WC.UDHeader] gives it, and port where it came in, from 1. The
// caller closes it, after the sends that name it have completed.
//
// C: ibv_create_ah_from_wc(3)
func (pd *PD) CreateAHFromWC(wc *ibv.WC, grh *ibv.GRH, port uint32) (*AH, error) {
	return pd.createAH(func() (*ibv.AH, error) { return pd.raw.CreateAHFromWC(wc, grh, port) })
}

func (pd *PD) createAH(create func() (*ibv.AH, error)) (*AH, error) {
	l, err := begin("address handle", pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	raw, err := create()
	if err != nil {
		return nil, err
	}
	return newAH(pd, l, raw, raw.Close), nil
}

// AdoptAH makes a handle of an address handle in the protection domain that
// something else has made, and that it closes, after the handle.
func (pd *PD) AdoptAH(raw *ibv.AH) (*AH, error) {
	l, err := beginAdopted("address handle", raw, func(raw *ibv.AH) *ibv.Context { return raw.Context }, pd)
	if err != nil {
		return nil, err
	}
	defer l.abandon()
	return newAH(pd, l, raw, nil), nil
}

func newAH(pd *PD, l *life, raw *ibv.AH, destroy func() error) *AH {
	ah := &AH{raw: raw, l: l, pd: pd}
	destroy = checkAH(l, pd.l, raw, destroy)
	live(l, ah, fmt.Sprintf("%#x", raw.Handle), destroy, (*AH).retire)
	return ah
}

// retire has Raw give nothing, until it is revived.
func (ah *AH) retire() (revive func()) {
	before := ah.raw
	ah.raw = nil
	return func() { ah.raw = before }
}

// attr is C's form of the options.
func (to *AHOptions) attr(pd *PD) (ibv.AHAttr, error) {
	var invalid string
	switch {
	case to.GID.IsZero() && to.LID == 0:
		invalid = "GID and LID are 0: one of them says where sends go"
	case to.From.PortNum > math.MaxUint8 || to.From.GIDIndex > math.MaxUint8:
		invalid = fmt.Sprintf("sends cannot come from index %d of port %d: both have 8 bits", to.From.GIDIndex, to.From.PortNum)
	case to.ServiceLevel > 15:
		invalid = fmt.Sprintf("the service level is %d: it has 4 bits", to.ServiceLevel)
	case to.FlowLabel >= 1<<20:
		invalid = fmt.Sprintf("the flow label is %#x: it has 20 bits", to.FlowLabel)
	}
	if invalid != "" {
		return ibv.AHAttr{}, pd.l.failed("create an address handle in", syscall.EINVAL, invalid)
	}
	attr := ibv.AHAttr{DLID: to.LID, SL: to.ServiceLevel, PortNum: uint8(to.From.PortNum)}
	if !to.GID.IsZero() {
		attr.IsGlobal = 1
		attr.GRH = ibv.GlobalRoute{
			DGID: to.GID, FlowLabel: to.FlowLabel, SGIDIndex: uint8(to.From.GIDIndex),
			HopLimit: to.HopLimit, TrafficClass: to.TrafficClass,
		}
		if attr.GRH.HopLimit == 0 {
			attr.GRH.HopLimit = hopLimit
		}
	}
	return attr, nil
}

// PD is the protection domain that it is in.
func (ah *AH) PD() *PD { return ah.pd }

// Raw is C's object, which work requests name, and nil after Close.
func (ah *AH) Raw() *ibv.AH { return ah.raw }

// Close destroys the address handle: see [Object].
func (ah *AH) Close() error { return ah.lifetime().close() }

// CloseAll is Close, for nothing is made from an address handle.
func (ah *AH) CloseAll() error { return ah.lifetime().closeAll() }

// String is the kind, the number and the device.
func (ah *AH) String() string { return ah.lifetime().text() }

func (ah *AH) lifetime() *life {
	if ah == nil {
		return nil
	}
	return ah.l
}
