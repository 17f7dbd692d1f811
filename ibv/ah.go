package ibv

import (
	"syscall"
	"unsafe"
)

// CreateAH makes an address handle, as ibv_create_ah(3) does: where a send on a
// UD queue pair goes. The caller closes it, not before the sends that name it
// have completed. It may be called from any goroutine.
func (pd *PD) CreateAH(attr *AHAttr) (*AH, error) {
	act := pd.Context.action("create address handle", map[syscall.Errno]string{
		syscall.EINVAL:       "the port or the GID index is wrong, or RoCE was asked without IsGlobal",
		noEntry:              "the GID index has no entry: see Context.GIDs",
		syscall.ENETUNREACH:  "there is no route to the GID",
		syscall.EHOSTUNREACH: "there is no route to the GID",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	c := new(AHAttr)
	*c = *attr
	ah, err := callPointer(act, "ibv_create_ah", uintptr(unsafe.Pointer(pd)), uintptr(unsafe.Pointer(c)))
	return pointerTo[AH](ah), err
}

// CreateAHTo makes an address handle for the port that has the GID dgid, from
// the local port and its GID table's entry sgidIndex, with a hop limit of 64 and
// service level 0. This is what RoCE needs; across an InfiniBand subnet, the
// peer's LID is needed too: see CreateAH.
func (pd *PD) CreateAHTo(port uint8, sgidIndex uint8, dgid GID) (*AH, error) {
	return pd.CreateAH(&AHAttr{
		GRH:      GlobalRoute{DGID: dgid, SGIDIndex: sgidIndex, HopLimit: hopLimit},
		IsGlobal: 1,
		PortNum:  port,
	})
}

// Close destroys the address handle, as ibv_destroy_ah(3) does.
func (ah *AH) Close() error {
	return callInt(ah.Context.action("destroy address handle", closeHints), "ibv_destroy_ah", uintptr(unsafe.Pointer(ah)))
}
