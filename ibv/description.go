package ibv

// The String methods give C's names of values. These give what libibverbs says
// about them in English, which is for people: releases differ.

// Description is what libibverbs calls a device of that kind, in English; without
// a library that knows, it is String.
//
// C: ibv_node_type_str(3)
func (v NodeType) Description() string { return described(v.String())(cNodeTypeStr(v)) }

// Description is what libibverbs calls the state, in English; without a library
// that knows, it is String.
//
// C: ibv_port_state_str(3)
func (v PortState) Description() string { return described(v.String())(cPortStateStr(v)) }

// Description is what libibverbs calls the event, in English; without a library
// that knows, it is String.
//
// C: ibv_event_type_str(3)
func (v EventType) Description() string { return described(v.String())(cEventTypeStr(v)) }

// Description is what libibverbs calls the status, in English; without a library
// that knows, it is String.
//
// C: ibv_wc_status_str(3)
func (v WCStatus) Description() string { return described(v.String())(cWCStatusStr(v)) }

// described chooses what the library says, if it says anything.
func described(name string) func(text string, err error) string {
	return func(text string, err error) string {
		if err != nil || text == "" {
			return name
		}
		return text
	}
}
