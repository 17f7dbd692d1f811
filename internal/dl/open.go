package dl

import (
	"errors"
	"fmt"
	"runtime"
)

// openLibrary loads a library and what it needs.
func openLibrary(name string) (uintptr, error) {
	// The dynamic linker keeps its message per thread: open and ask on the same one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := dlopen(name)
	if err != nil && loads {
		err = fmt.Errorf("dlopen: %w", err)
	}
	return handle, err
}

// findSymbol looks a symbol up in a library, or [everywhere].
func findSymbol(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread() // for the message, as in openLibrary
	defer runtime.UnlockOSThread()
	address, err := dlsym(handle, name)
	if err != nil {
		return 0, fmt.Errorf("dlsym: %w", err)
	}
	if address == 0 {
		return 0, errors.New("dlsym: the symbol has no address")
	}
	return address, nil
}

// cLibrary is the C library of this process, of the two that Linux has.
func cLibrary() string {
	// Only glibc has an answer to this question; others have the function, which is POSIX's, and do not know the number.
	const askGlibcVersion = 2 // _CS_GNU_LIBC_VERSION
	if confstr, err := findSymbol(everywhere, "confstr"); err == nil {
		if length, _ := Call(confstr, askGlibcVersion, 0, 0); length > 0 {
			return glibc
		}
	}
	return musl
}
