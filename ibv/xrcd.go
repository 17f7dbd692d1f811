package ibv

import (
	"fmt"
	"syscall"
	"unsafe"
)

// OpenXRCD opens an XRC domain, in which shared receive queues and receiving ends
// of XRC can be used by several processes: those that name the same file, by
// attr.FD. With an FD of -1 the domain is the program's own. C wants both members
// named in CompMask. The file may be closed afterwards. The caller closes the
// domain. It may be called from any goroutine.
//
// C: ibv_open_xrcd(3)
func (ctx *Context) OpenXRCD(attr XRCDInitAttr) (*XRCD, error) {
	act := ctx.action("open XRC domain", map[syscall.Errno]string{
		syscall.EINVAL: "CompMask lacks a member, or a domain without a file needs O_CREAT in Oflags",
		syscall.ENOENT: "the file has no domain yet: O_CREAT in Oflags makes one",
		syscall.EEXIST: "the file has a domain already, and Oflags has O_EXCL",
		syscall.EBADF:  "FD is no open file",
	})
	fn := ctx.operation(unsafe.Offsetof(VerbsContext{}.OpenXRCD))
	c := new(XRCDInitAttr)
	*c = attr
	xrcd, err := callVerbsContextOpenXRCD(fn, ctx, c)
	return xrcd, act.from(err)
}

// Close closes the XRC domain. What this process made in it must be closed before.
//
// C: ibv_close_xrcd(3); a provider without the operation is an error, where C's program ends
func (s *XRCD) Close() error {
	act := s.Context.action("close XRC domain", closeHints)
	fn := s.Context.operation(unsafe.Offsetof(VerbsContext{}.CloseXRCD))
	return act.from(callVerbsContextCloseXRCD(fn, s))
}

// String is a line about the XRC domain.
func (s *XRCD) String() string {
	if s == nil {
		return nilText
	}
	return fmt.Sprintf("XRC domain at %p", s)
}
