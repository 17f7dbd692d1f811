//go:build !((linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo)))

package dl

import (
	"errors"
	"fmt"
	"runtime"
)

const (
	loads      = false
	everywhere = 0
)

func dlopen(string) (uintptr, error) { return 0, unsupported() }

func dlsym(uintptr, string) (uintptr, error) { return 0, unsupported() }

func call(uintptr, ...uintptr) uintptr { return ^uintptr(0) }

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
