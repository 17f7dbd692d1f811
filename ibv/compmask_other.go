//go:build !freebsd

package ibv

// What a mask names is the provider's to refuse, as with rdma-core's inline
// functions, but for objects that C would take for the context's own.

func (s *CQInitAttrEx) check(ctx *Context, act action) error {
	if s.CompMask&CQInitAttrMaskPD != 0 && (s.ParentDomain == nil || s.ParentDomain.Context != ctx) {
		return act.invalid("CompMask names ParentDomain, which is nil or belongs to a different context")
	}
	return nil
}

func (ValuesMask) check(action) error { return nil }
