//go:build !(linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x))

package ccall

import "unsafe"

const direct = false

func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr) {
	return postPortable(fn, object, list)
}

func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return pollPortable(fn, cq, n, wc)
}
