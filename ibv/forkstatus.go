//go:build !freebsd

package ibv

// IsForkInitialized tells whether fork(2) spares registered memory: see
// [ForkInit]. It may be called from any goroutine.
//
// C: ibv_is_fork_initialized(3)
func IsForkInitialized() (ForkStatus, error) {
	status, err := cIsForkInitialized()
	return status, action{op: "query whether fork is prepared for"}.from(err)
}
