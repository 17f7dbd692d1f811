//go:build linux && !android && (amd64 || arm64)

package ccall

// makePair is Make. It branches to pairPortable itself.
func makePair(p *Pair)

// pairPortable makes both calls without the direct call.
//
//lint:ignore U1000 used by the assembly
func pairPortable(p *Pair) {
	p.PostResult, p.PostErrno, p.Bad = postPortable(p.PostFn, p.Object, p.List)
	p.Got, p.PollErrno = pollPortable(p.PollFn, p.CQ, p.Room, p.Into)
}
