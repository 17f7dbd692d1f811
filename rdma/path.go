package rdma

import "github.com/goverbs/goverbs/ibv"

// Path is how a connected queue pair reaches its peer.
type Path struct {
	// Port is the local port, from 1.
	Port uint32
	// GIDIndex is the entry of the port's GID table to send from, 0 to 255: see
	// [Device.ChooseGID]. It matters with RoCE, and with InfiniBand across routers.
	GIDIndex uint32
	// MTU is the largest packet, at most the ActiveMTU of both ports.
	MTU ibv.MTU
}
