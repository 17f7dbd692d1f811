package ibv

import (
	"math"
	"syscall"
)

// CreateAH makes an address handle, as ibv_create_ah(3) does: where a send on a
// UD queue pair goes. The caller closes it, not before the sends that name it
// have completed. It may be called from any goroutine.
//
// C: ibv_create_ah(3)
func (pd *PD) CreateAH(attr *AHAttr) (*AH, error) {
	act := pd.Context.action("create address handle", map[syscall.Errno]string{
		syscall.EINVAL:       "an attribute is out of range, or the device has no more of them: close some",
		noEntry:              "the GID index has no entry: see Context.GIDs",
		syscall.ENETUNREACH:  "there is no route to the GID",
		syscall.EHOSTUNREACH: "there is no route to the GID",
		syscall.ETIMEDOUT:    "nobody answers at the GID",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	c := new(AHAttr)
	*c = *attr
	ah, err := cCreateAH(pd, c)
	if err != nil {
		return nil, explainWith(act.from(err), func() []string { return pd.Context.wrongWay(attr) })
	}
	return ah, nil
}

// CreateAHTo makes an address handle for the port that has the GID dgid, from
// the local port, from 1, and its GID table's entry sgidIndex, 0 to 255, with a
// hop limit of 64 and service level 0. This is what RoCE needs; across an
// InfiniBand subnet, the peer's LID is needed too: see CreateAH.
func (pd *PD) CreateAHTo(port, sgidIndex uint32, dgid GID) (*AH, error) {
	act := pd.Context.action("create address handle", nil)
	if err := act.checkPort(port); err != nil {
		return nil, err
	}
	if sgidIndex > math.MaxUint8 {
		return nil, act.invalid("the GID index is %d: it has 8 bits", sgidIndex)
	}
	return pd.CreateAH(&AHAttr{
		GRH:      GlobalRoute{DGID: dgid, SGIDIndex: uint8(sgidIndex), HopLimit: 64},
		IsGlobal: 1,
		PortNum:  uint8(port),
	})
}

// Close destroys the address handle, as ibv_destroy_ah(3) does.
//
// C: ibv_destroy_ah(3)
func (ah *AH) Close() error {
	return ah.Context.action("destroy address handle", closeHints).from(cDestroyAH(ah))
}
