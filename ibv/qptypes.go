package ibv

// In reports whether the type is in a set of types, such as
// RSSCaps.SupportedQPTs.
//
// C: ibv_is_qpt_supported
func (t QPType) In(set uint32) bool { return set&(1<<t) != 0 }
