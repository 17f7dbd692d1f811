//go:build !((linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo)))

package dl

import (
	"errors"
	"fmt"
	"runtime"
	"syscall"
)

func openLibrary(string) (uintptr, error) {
	return 0, unsupported()
}

func findSymbol(uintptr, string) (uintptr, error) {
	return 0, unsupported()
}

func unsupported() error {
	way := ""
	switch runtime.GOOS + "/" + runtime.GOARCH {
	case "freebsd/amd64", "freebsd/arm64":
		way = ": build with cgo, or with -tags goverbs_fakecgo -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std"
	case "linux/s390x":
		way = ": build with cgo, or with Go 1.27 or newer"
	}
	return fmt.Errorf("%w: this program for %s/%s loads no C libraries%s", errors.ErrUnsupported, runtime.GOOS, runtime.GOARCH, way)
}

// cLibrary is none: nothing is loaded here.
func cLibrary() string { return "" }

// ErrnoFunction returns 0: there is no C library to ask.
func ErrnoFunction() uintptr { return 0 }

// Call returns -1 and ENOSYS: nothing can be loaded here, so there is nothing to call.
func Call(uintptr, ...uintptr) (result uintptr, errno syscall.Errno) {
	return ^uintptr(0), syscall.ENOSYS
}

// CallInt returns -1 and ENOSYS, like [Call].
func CallInt(uintptr, ...uintptr) (result int32, errno syscall.Errno) {
	return -1, syscall.ENOSYS
}
