//go:build !freebsd

package rdma

import "github.com/goverbs/goverbs/ibv"

// answered reports whether an operation that not all headers have needs an answer of
// the peer's, which only reliable queue pairs have.
func answered(op ibv.WROpcode) bool { return op == ibv.WRFlush || op == ibv.WRAtomicWrite }
