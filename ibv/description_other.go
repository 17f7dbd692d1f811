//go:build !freebsd

package ibv

// Description is what libibverbs calls the operation, in English; without a
// library that knows, it is String.
//
// C: ibv_wr_opcode_str(3)
func (v WROpcode) Description() string { return described(v.String())(cWROpcodeStr(v)) }
