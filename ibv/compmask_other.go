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

// What follows has members that FreeBSD's structs lack.

func (s *CQInitAttrEx) members() []member {
	return []member{
		countsBy(s.CompMask, CQInitAttrMaskFlags, "Flags", s.Flags != 0),
		countsBy(s.CompMask, CQInitAttrMaskPD, "ParentDomain", s.ParentDomain != nil),
	}
}

func (s *QPInitAttrEx) moreMembers() []member {
	return []member{
		{name: "SourceQPN", set: s.SourceQPN != 0, by: "CreateFlags", bit: QPCreateSourceQPN, has: s.CreateFlags&QPCreateSourceQPN != 0},
		countsBy(s.CompMask, QPInitAttrSendOpsFlags, "SendOpsFlags", s.SendOpsFlags != 0),
	}
}

func (s *QPInitAttrEx) sendOps() asked {
	return asked{"SendOpsFlags", QPCreateSendOpsFlags(s.SendOpsFlags), s.CompMask&QPInitAttrSendOpsFlags != 0}
}

func (s *SRQInitAttrEx) moreMembers() []member {
	return []member{countsBy(s.CompMask, SRQInitAttrTM, "TMCap", s.TMCap.MaxNumTags|s.TMCap.MaxOps != 0)}
}

func (ValuesMask) check(action) error { return nil }
