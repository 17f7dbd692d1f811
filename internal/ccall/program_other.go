//go:build !(linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x))

package ccall

import "unsafe"

func playSteps(p *Program, first *Step, n int) (result, errno int32) {
	return playPortable(p, first, n)
}

func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32) {
	return pollExPortable(p, into, n)
}

func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32) {
	return callPortable(fn, a, b, c, d, e, f)
}
