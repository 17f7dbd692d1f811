package rdma

import (
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/ibv"
)

// DefaultQKey is what senders to UD queue pairs must know whose QPOptions.QKey is 0.
// It is no secret: queue pairs that shall not hear strangers have another one.
const DefaultQKey uint32 = 0x11111111

// initial is what a queue pair gets with INIT. The zero value is that nobody knows.
type initial struct {
	port      uint32
	pkeyIndex uint16
	access    ibv.AccessFlags
	qkey      uint32
}

// initial is the options' for a queue pair, or nothing where it is to stay in RESET.
func (opts *QPOptions) initial(dev *Device, raw *ibv.QP) (initial, error) {
	if dev.raw.Device.IsIWARP() || raw.QPType.Needs(ibv.QPSReset, ibv.QPSInit) == ibv.QPAttrMaskState {
		return initial{}, nil
	}
	init := initial{port: opts.Port, pkeyIndex: opts.PKeyIndex, access: opts.Access, qkey: opts.QKey}
	if init.qkey == 0 {
		init.qkey = DefaultQKey
	}
	if init.port != 0 {
		return init, nil
	}
	ports, err := dev.activePorts()
	if err == nil && len(ports) == 0 {
		err = &Error{Op: "choose a port of", On: dev.String(), Err: syscall.ENETDOWN, Hint: "none is active: see to its network interface or cable, or say which one in QPOptions.Port"}
	}
	if err != nil {
		return initial{}, err
	}
	init.port = ports[0]
	return init, nil
}

// move moves a queue pair from RESET to INIT, if it is known how.
func (init *initial) move(raw *ibv.QP) error {
	if init.port == 0 {
		return nil
	}
	failed := func(err error) error {
		return &Error{Op: "move", On: "a new queue pair to INIT", Err: err, Hint: "see Port, PKeyIndex, Access and QKey of QPOptions; Reset leaves it in RESET"}
	}
	if init.port > 255 {
		return failed(fmt.Errorf("there is no port %d: ports have 8 bits, and count from 1: %w", init.port, syscall.EINVAL))
	}
	if err := raw.Modify(&ibv.QPAttr{
		QPState: ibv.QPSInit, PortNum: uint8(init.port), PKeyIndex: init.pkeyIndex, QPAccessFlags: init.access, QKey: init.qkey,
	}, raw.QPType.Needs(ibv.QPSReset, ibv.QPSInit)); err != nil {
		return failed(err)
	}
	return nil
}

// activePorts is the numbers of the ports that are active.
func (d *Device) activePorts() (ports []uint32, err error) {
	attr, err := d.raw.QueryDevice()
	if err != nil {
		return nil, err
	}
	for port := uint32(1); port <= uint32(attr.PhysPortCnt); port++ {
		p, err := d.raw.QueryPort(port)
		if err != nil {
			return nil, err
		}
		if p.State == ibv.PortActive {
			ports = append(ports, port)
		}
	}
	return ports, nil
}
