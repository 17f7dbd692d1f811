//go:build !freebsd

package ibv

import (
	"syscall"
	"unsafe"
)

// Modify changes the attributes that attr.AttrMask names: with CQAttrModerate, for
// how many completions or for how long a device may hold events back. How much
// it can is in the extended device attributes. It may be called from any
// goroutine.
//
// C: ibv_modify_cq(3)
func (cq *CQ) Modify(attr ModifyCQAttr) error {
	act := cq.Context.action("modify completion queue", map[syscall.Errno]string{
		syscall.EINVAL: "AttrMask has a bit that the device does not know, or a value is above what it can do",
	})
	fn := cq.Context.operation(unsafe.Offsetof(VerbsContext{}.ModifyCQ))
	c := new(ModifyCQAttr)
	*c = attr
	return act.from(callVerbsContextModifyCQ(fn, cq, c))
}
