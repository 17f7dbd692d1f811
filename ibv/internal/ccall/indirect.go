//go:build !(amd64 && (linux || freebsd)) || android

package ccall

import "unsafe"

const direct = false

func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer) {
	return postPortable(fn, object, list)
}

func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return pollPortable(fn, cq, n, wc)
}
