//go:build !(linux && !android && (amd64 || arm64))

package ccall

func makePair(p *Pair) {
	p.PostResult, p.PostErrno, p.Bad = post(p.PostFn, p.Object, p.List)
	p.Got, p.PollErrno = poll(p.PollFn, p.CQ, p.Room, p.Into)
}
