//go:build !riscv64 && !freebsd

package ibv

// register is the room in an [ExtendedWC] for what a function of C's returns. The
// store of a register that begins there ends in the room of the next one.
type register = uint32
