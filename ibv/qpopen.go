package ibv

import (
	"syscall"
	"unsafe"
)

// OpenQP opens a queue pair that exists: the receiving end of XRC that another
// process has made in the same XRC domain, by its number. attr.CompMask names the
// members that count. The caller closes it. It may be called from any goroutine.
// QPContext is a number as cqContext is in [Context.CreateCQWithChannel].
//
// C: ibv_open_qp(3)
func (ctx *Context) OpenQP(attr *QPOpenAttr) (*QP, error) {
	act := ctx.action("open queue pair", map[syscall.Errno]string{
		syscall.EINVAL: "there is no such queue pair in the XRC domain, or CompMask lacks a member",
	})
	if attr == nil {
		return nil, act.invalid("attributes are missing")
	}
	if attr.CompMask&QPOpenAttrXRCD != 0 && (attr.XRCD == nil || attr.XRCD.Context != ctx) {
		return nil, act.invalid("CompMask names XRCD, which is nil or belongs to a different context")
	}
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.OpenQP))
	c := new(QPOpenAttr)
	*c = *attr
	qp, err := callVerbsContextOpenQP(fn, ctx, c)
	return qp, act.from(err)
}
