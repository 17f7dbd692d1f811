//go:build !freebsd

package ibv

// The specifications that FreeBSD's header lacks.

func (s *FlowSpecESP) flowSpec() flowSpec           { return specOf(s, FlowSpecTypeESP) }
func (s *FlowSpecGRE) flowSpec() flowSpec           { return specOf(s, FlowSpecTypeGRE) }
func (s *FlowSpecMPLS) flowSpec() flowSpec          { return specOf(s, FlowSpecTypeMPLS) }
func (s *FlowSpecActionHandle) flowSpec() flowSpec  { return specOf(s, FlowSpecTypeActionHandle) }
func (s *FlowSpecCounterAction) flowSpec() flowSpec { return specOf(s, FlowSpecTypeActionCount) }
