//go:build linux && (amd64 || arm64)

package ccall

// makePair is Make. It branches to pairStepwise itself where there is no direct call.
func makePair(p *Pair)
