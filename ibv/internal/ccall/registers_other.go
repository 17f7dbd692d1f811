//go:build !(amd64 && linux && !android && !go1.28)

package ccall

const inRegisters = false

func choose() (postFunc, fromFunc, listFunc, pollFunc) { return post, postFrom, postList, pollInto }
