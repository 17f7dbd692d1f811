package device

import (
	"errors"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const psn = 1

// handle is rdma's of a queue pair, which knows the states. It ends with the device.
func (d *real) handle(qp *ibv.QP) (*rdma.QP, error) { return d.domain.AdoptQP(qp, rdma.QPOptions{}) }

// connectRC brings an RC queue pair to RTS, where its peer is the queue pair of the
// device with that number, which may do so much.
func (d *real) connectRC(raw *ibv.QP, peer uint32, rights ibv.AccessFlags) error {
	attr, err := d.ctx.QueryPort(port)
	if err != nil {
		return err
	}
	gid, err := d.ctx.BestGID(port)
	if err != nil {
		return err
	}
	qp, err := d.handle(raw)
	if err != nil {
		return err
	}
	return errors.Join(
		qp.ToInit(port, rights),
		qp.ToRTR(rdma.Path{Port: port, GIDIndex: gid.GIDIndex, MTU: attr.ActiveMTU}, rdma.Peer{QPNum: peer, PSN: psn, GID: gid.GID, LID: attr.LID}),
		qp.ToRTS(psn))
}

// connectUD brings a UD queue pair to RTS.
func (d *real) connectUD(raw *ibv.QP) error {
	qp, err := d.handle(raw)
	if err != nil {
		return err
	}
	return errors.Join(qp.ToInitUD(port, qkey), qp.ToRTRUD(), qp.ToRTSUD(psn))
}
