//go:build !(amd64 && linux && !go1.28)

package ccall

const inRegisters = false

func choose() (postFunc, fromFunc, listFunc, pollFunc) { return postAny, postFrom, postList, pollInto }

func choosePrograms() (playFunc, pollExFunc, callFunc) { return playProgram, pollProgram, callAny }

func chooseBound() (listBinder, pollBinder) { return bindList, bindPoll }
