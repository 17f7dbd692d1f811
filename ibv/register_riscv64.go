//go:build !freebsd

package ibv

// register is the room in an [ExtendedWC] for what a function of C's returns. All of
// a register fits in: there are processors on which a store to an address that is no
// multiple of its size takes a trap.
type register = uint64
