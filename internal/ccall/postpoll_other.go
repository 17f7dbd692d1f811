//go:build !(linux && (amd64 || arm64))

package ccall

func makePair(p *Pair) { pairStepwise(p) }
