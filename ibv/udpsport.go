//go:build !freebsd

package ibv

// roceUDPSportMin is the first of the UDP ports that RoCE v2 sends from.
const roceUDPSportMin = 0xc000

// FlowLabelToUDPSport is the UDP source port, of RoCE v2, for a flow label of 20
// bits: networks choose a path by it.
//
// C: ibv_flow_label_to_udp_sport
func FlowLabelToUDPSport(label uint32) uint16 {
	return uint16(label&0x3fff ^ label&0xfc000>>14 | roceUDPSportMin)
}
