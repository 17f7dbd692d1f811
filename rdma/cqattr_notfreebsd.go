//go:build !freebsd

package rdma

import "github.com/goverbs/goverbs/ibv"

// Modify changes the attributes that attr.AttrMask names: for how many completions
// or for how long the device may hold events back. See [ibv.CQ.Modify]. Any
// goroutine may call it.
//
// C: ibv_modify_cq(3)
func (cq *CQ) Modify(attr ibv.ModifyCQAttr) error {
	return cq.lifetime().during("modify", func() error { return cq.raw.Modify(attr) })
}
