//go:build (linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo))

package dl

import "github.com/ebitengine/purego"

const (
	// loads reports whether C libraries can be loaded here.
	loads = true

	// everywhere is the handle to look a symbol up in all libraries with.
	everywhere = purego.RTLD_DEFAULT
)

// dlopen loads a library. RTLD_NOW makes one that does not fit fail here, with a message, and not at some later call.
// RTLD_GLOBAL puts its symbols where a C program linked with -libverbs has them. libibverbs loads its providers as
// plugins: most name libibverbs as something they need, but one that counts on the program having it is found in the
// global scope only.
func dlopen(name string) (uintptr, error) {
	return purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_GLOBAL)
}

func dlsym(handle uintptr, name string) (uintptr, error) { return purego.Dlsym(handle, name) }

func call(fn uintptr, args ...uintptr) uintptr {
	result, _, _ := purego.SyscallN(fn, args...)
	return result
}
