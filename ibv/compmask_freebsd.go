package ibv

// check refuses what FreeBSD's inline function refuses: members that its header
// does not know.
func (s *CQInitAttrEx) check(_ *Context, act action) error {
	if unknown := s.CompMask &^ CQInitAttrMaskFlags; unknown != 0 {
		return act.invalid("CompMask has %v, which this system does not know", unknown)
	}
	return nil
}

// members are those that count by CompMask.
func (s *CQInitAttrEx) members() []member {
	return []member{countsBy(s.CompMask, CQInitAttrMaskFlags, "Flags", s.Flags != 0)}
}

func (s *QPInitAttrEx) moreMembers() []member { return nil }

func (s *QPInitAttrEx) sendOps() asked { return asked{} }

func (s *SRQInitAttrEx) moreMembers() []member { return nil }

// check refuses what FreeBSD's inline function refuses.
func (v ValuesMask) check(act action) error {
	if unknown := v &^ ValuesMaskRawClock; unknown != 0 {
		return act.invalid("the mask has %v, which this system does not know", unknown)
	}
	return nil
}
