//go:build (linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo))

package dl

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/ebitengine/purego"
)

// openLibrary loads a library and what it needs.
//
// RTLD_NOW makes a library that does not fit fail here, with a message, and not at some later call. RTLD_GLOBAL puts its
// symbols where a C program linked with -libverbs has them. libibverbs loads its providers as plugins: most name
// libibverbs as something they need, but one that counts on the program having it is found in the global scope only.
func openLibrary(name string) (uintptr, error) {
	// The dynamic linker keeps its message per thread: open and ask on the same one.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return 0, fmt.Errorf("dlopen: %w", err)
	}
	return handle, nil
}

// findSymbol looks a symbol up in a library, or everywhere for [purego.RTLD_DEFAULT].
func findSymbol(handle uintptr, name string) (uintptr, error) {
	runtime.LockOSThread() // for the message, as in openLibrary
	defer runtime.UnlockOSThread()
	address, err := purego.Dlsym(handle, name)
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
	if confstr, err := findSymbol(purego.RTLD_DEFAULT, "confstr"); err == nil {
		if length, _ := Call(confstr, askGlibcVersion, 0, 0); length > 0 {
			return glibc
		}
	}
	return musl
}
