package ibv

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/internal/dl"
)

// asking is a kernel driver that lets the kernel's core judge changes of queue
// pairs by its table.
type asking struct {
	onlyMoves bool     // asks for changes of the state, not for others
	but       []QPType // does not ask for all of these
}

// askers is the providers whose kernel drivers ask, by name: as read in the
// drivers of Linux. Those that are not here have rules of their own (efa, and the
// iWARP ones: cxgb4, erdma, siw), ask nobody (mana, usnic), or are not known.
var askers = map[string]asking{
	"bnxt_re":    {onlyMoves: true},
	"hfi1verbs":  {},
	"hns":        {},
	"ipathverbs": {},
	"irdma":      {onlyMoves: true},
	"mlx4":       {},
	"mlx5":       {but: []QPType{QPTUD}}, // one with a source number takes the state alone
	"mthca":      {},
	"ocrdma":     {},
	"qedr":       {},
	"rxe":        {onlyMoves: true}, // of others too, up to Linux 6.1
	"vmw_pvrdma": {},
}

// asksTable reports whether the device's driver surely refuses what the kernel's
// table has an objection to, for a change of the attributes that mask names.
func (ctx *Context) asksTable(typ QPType, mask QPAttrMask) bool {
	if runtime.GOOS != "linux" || ctx.Device.IsIWARP() {
		return false
	}
	driver, asks := askers[ctx.provider()]
	return asks && !slices.Contains(driver.but, typ) && (!driver.onlyMoves || mask&QPAttrMaskState != 0)
}

// provider is the name of the library that drives the device, such as mlx5 of
// libmlx5-rdmav34.so; "" if it is not in a library of such a name.
func (ctx *Context) provider() string {
	name, isLibrary := strings.CutPrefix(filepath.Base(dl.FileOf(uintptr(ctx.Ops.PostSend))), "lib")
	if !isLibrary {
		return ""
	}
	name, _, _ = strings.Cut(name, ".so")
	name, _, _ = strings.Cut(name, "-rdmav")
	return name
}
