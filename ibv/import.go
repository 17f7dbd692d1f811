//go:build !freebsd

package ibv

import (
	"fmt"
	"syscall"
)

// importHints are for verbs that take over objects of another process.
var importHints = map[syscall.Errno]string{
	syscall.EOPNOTSUPP: "the device's provider, or this libibverbs, cannot share objects between processes",
	syscall.ENOENT:     "the kernel has no such object in this context",
	syscall.EBADF:      "the file is not open",
}

// ImportDevice makes a context of another context's file, Context.CmdFD, which
// must be a duplicate: dup(2)'s, or one that another process sent. What the
// kernel has there, both can use. The context owns the file, and closes it with
// itself. When it fails, the library may or may not have closed the file,
// depending on how far it came. The caller closes the context. It may be called
// from any goroutine.
//
// C: ibv_import_device(3)
func ImportDevice(cmdFD int) (*Context, error) {
	act := action{op: fmt.Sprintf("import the RDMA device of file %d", cmdFD), hints: map[syscall.Errno]string{
		syscall.EOPNOTSUPP: importHints[syscall.EOPNOTSUPP],
		syscall.EINVAL:     "the file is not that of a context",
	}}
	if err := act.checkFile(cmdFD); err != nil {
		return nil, err
	}
	ctx, err := cImportDevice(int32(cmdFD))
	return ctx, act.from(err)
}

// checkFile refuses what C's int would make another file of.
func (a action) checkFile(fd int) error {
	if int(int32(fd)) != fd {
		return a.because(syscall.EBADF, "files have no such numbers")
	}
	return nil
}

// ImportPD gives the protection domain that the context's file has under a handle,
// PD.Handle. The one who closes it destroys it for all, so all others, who
// see to it that it is the last, call [PD.Unimport]. It may be called from any
// goroutine.
//
// C: ibv_import_pd(3)
func (ctx *Context) ImportPD(handle uint32) (*PD, error) {
	pd, err := cImportPD(ctx, handle)
	return pd, ctx.action(fmt.Sprintf("import protection domain %d", handle), importHints).from(err)
}

// Unimport frees what ImportPD made, and leaves the protection domain itself.
//
// C: ibv_unimport_pd(3)
func (pd *PD) Unimport() error {
	return pd.Context.action("give up an imported protection domain", nil).from(cUnimportPD(pd))
}

// ImportMR gives the memory region that the context's file has under a handle,
// MR.Handle. MR.Addr is 0, because the memory need not be in this process:
// [MR.Bytes] and [MR.SGE] are of no use. The one who closes it destroys it for all,
// so all others call [MR.Unimport]. It may be called from any goroutine.
//
// C: ibv_import_mr(3)
func (pd *PD) ImportMR(handle uint32) (*MR, error) {
	mr, err := cImportMR(pd, handle)
	return mr, pd.Context.action(fmt.Sprintf("import memory region %d", handle), importHints).from(err)
}

// Unimport frees what ImportMR made, and leaves the region itself.
//
// C: ibv_unimport_mr(3)
func (mr *MR) Unimport() error {
	return mr.Context.action("give up an imported memory region", nil).from(cUnimportMR(mr))
}

// ImportDM gives the memory of the device that the context's file has under a
// handle, DM.Handle. The one who closes it frees it for all, so all others call
// [DM.Unimport]. It may be called from any goroutine.
//
// C: ibv_import_dm(3)
func (ctx *Context) ImportDM(handle uint32) (*DM, error) {
	dm, err := cImportDM(ctx, handle)
	return dm, ctx.action(fmt.Sprintf("import memory %d of the device", handle), importHints).from(err)
}

// Unimport frees what ImportDM made, and leaves the memory itself.
//
// C: ibv_unimport_dm(3)
func (dm *DM) Unimport() error {
	return dm.Context.action("give up imported memory of the device", nil).from(cUnimportDM(dm))
}
