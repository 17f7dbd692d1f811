package ibv

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// ReregMRError is the failure of [MR.Rereg], and says what has become of the
// region: see [ReregMRErrCode]. It unwraps to an [*Error].
type ReregMRError struct {
	Code ReregMRErrCode
	Err  error
}

// Error is what Err says, which includes the fate of the region.
func (e *ReregMRError) Error() string { return e.Err.Error() }

// Unwrap gives Err.
func (e *ReregMRError) Unwrap() error { return e.Err }

// fates say what to do after a re-registration failed.
var fates = map[ReregMRErrCode]string{
	ReregMRErrInput:           "the region is as it was",
	ReregMRErrDontForkNew:     "the region is as it was",
	ReregMRErrDoForkOld:       "the region is as asked for, but a child process will not have the old memory",
	ReregMRErrCmd:             "the region must not be used any more, only closed",
	ReregMRErrCmdAndDoForkNew: "the region must not be used any more, only closed",
}

// Rereg changes what flags names of the region: its memory to buf, its protection
// domain to pd, its access flags to access. The others must be nil, nil and 0. It
// is a deregistration and a registration, and keeps what it can; LKey and RKey may
// change. No work request that names the region may be outstanding. Memory of the Go
// heap is the caller's to keep reachable, as it is for [PD.RegMR]: after an error
// the device may have the old one, buf or both, until Close has succeeded. The error
// is a [*ReregMRError]. The region must be closed even when it must not be used any
// more.
//
// C: ibv_rereg_mr(3); the reason is in errno there, and the result says what has become of the region
func (mr *MR) Rereg(flags ReregMRFlags, pd *PD, buf []byte, access AccessFlags) error {
	act := mr.Context.action(fmt.Sprintf("change memory region (%v)", flags), map[syscall.Errno]string{syscall.ENOMEM: hintLocksMemory})
	switch {
	case flags&ReregMRChangeTranslation == 0 && buf != nil:
		return inputError(act, "there is memory, and ReregMRChangeTranslation is not among the flags")
	case flags&ReregMRChangeTranslation != 0 && len(buf) == 0:
		return inputError(act, "the memory is missing")
	case flags&ReregMRChangePD == 0 && pd != nil:
		return inputError(act, "there is a protection domain, and ReregMRChangePD is not among the flags")
	case flags&ReregMRChangePD != 0 && (pd == nil || pd.Context != mr.Context):
		return inputError(act, "the protection domain is missing, or of another context")
	}
	// Safe: buf escapes to the heap, which does not move, and is the caller's to keep.
	code, err := cReregMR(mr, flags, pd, uintptr(unsafe.Pointer(unsafe.SliceData(buf))), uint64(len(buf)), access)
	if code == 0 && err == nil {
		return nil
	}
	return reregError(act, ReregMRErrCode(code), err)
}

func inputError(act action, format string, args ...any) error {
	return &ReregMRError{ReregMRErrInput, act.invalid(format, args...)}
}

// reregError is the error of a re-registration that C refused.
func reregError(act action, code ReregMRErrCode, err error) *ReregMRError {
	switch {
	case isMissing(err):
		return &ReregMRError{ReregMRErrInput, act.from(err)}
	case errors.Is(err, errors.ErrUnsupported) || code > 0 && errors.Is(syscall.Errno(code), errors.ErrUnsupported):
		// C says that the region is lost, but nobody has touched it.
		return &ReregMRError{ReregMRErrInput, act.because(syscall.EOPNOTSUPP, "the device's provider or this libibverbs does not have it; %s", fates[ReregMRErrInput])}
	case code > 0: // not C's, but providers have been seen to return errno values
		return &ReregMRError{ReregMRErrCmd, act.because(syscall.Errno(code), "%s", fates[ReregMRErrCmd])}
	case fates[code] == "":
		code = ReregMRErrCmd
	}
	return &ReregMRError{code, act.because(errnoOf(err), "%s", fates[code])}
}
