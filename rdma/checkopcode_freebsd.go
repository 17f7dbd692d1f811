package rdma

import "github.com/goverbs/goverbs/ibv"

// answered reports whether an operation that not all headers have needs an answer of
// the peer's, which only reliable queue pairs have.
func answered(ibv.WROpcode) bool { return false }
