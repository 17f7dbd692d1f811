//go:build !(amd64 && (linux || freebsd) && !android && !go1.28)

package ccall

import "unsafe"

const inRegisters = false

func callPost(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer) {
	return post(fn, object, list)
}

func callPoll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32) {
	return poll(fn, cq, n, wc)
}
