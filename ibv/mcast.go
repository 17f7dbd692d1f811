package ibv

import (
	"fmt"
	"syscall"
)

// AttachMcast makes the UD queue pair receive what is sent to a multicast group:
// its GID, and its LID, which RoCE does not look at. On an InfiniBand fabric the
// subnet's administration must have made the group, and the port a member of it;
// on RoCE the system's own membership may be needed for packets to come. It may be
// called from any goroutine.
//
// C: ibv_attach_mcast(3)
func (qp *QP) AttachMcast(gid GID, lid uint16) error {
	c := new(GID)
	*c = gid
	return qp.action(fmt.Sprintf("attach multicast group %v to", gid), mcastHints).from(cAttachMcast(qp, c, lid))
}

// DetachMcast ends what AttachMcast has begun, with the same GID and LID. A queue
// pair must be detached from all groups before it is closed: [QP.Close] is
// syscall.EBUSY until then. It may be called from any goroutine.
//
// C: ibv_detach_mcast(3)
func (qp *QP) DetachMcast(gid GID, lid uint16) error {
	c := new(GID)
	*c = gid
	return qp.action(fmt.Sprintf("detach multicast group %v from", gid), mcastHints).from(cDetachMcast(qp, c, lid))
}

var mcastHints = map[syscall.Errno]string{
	syscall.EINVAL: "the GID is not one of a multicast group, the queue pair is not UD, or it is not attached",
	syscall.ENOMEM: "the device has no room for another group: see DeviceAttr.MaxMcastGrp",
}
