package ibv

// In reports whether a set of queue pair types, such as RSSCaps.SupportedQPTs or
// TSOCaps.SupportedQPTs has them, includes a type.
//
// C: ibv_is_qpt_supported
func (t QPType) In(set uint32) bool { return t < 32 && set&(1<<t) != 0 }
