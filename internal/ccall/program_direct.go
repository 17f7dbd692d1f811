//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import "unsafe"

// playSteps is Play. Like the others, it branches to its portable way itself.
func playSteps(p *Program, first *Step, n int) (result, errno int32)

// pollEx is Poll for up to n completions, which is more than 0, in one crossing.
func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)

// call is Call.
func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
