// Package dl finds and loads libibverbs without cgo, looks up its symbols, and calls C functions.
//
// # Which library
//
// [Load] opens libibverbs.so.1, wherever the system's dynamic linker finds it. The environment variable
// GOVERBS_LIBIBVERBS replaces that name: a path, or another name for the dynamic linker to look for.
//
// # Which systems
//
// Loading works on 64-bit Linux and FreeBSD wherever purego does: amd64, arm64, loong64, ppc64le, riscv64 and s390x on
// Linux, amd64 and arm64 on FreeBSD, with CGO_ENABLED=0 and with CGO_ENABLED=1. Linux on s390x without cgo needs Go 1.27;
// so does riscv64, or -ldflags="-I /lib/ld-linux-riscv64-lp64d.so.1", for a program that finds its dynamic linker.
// A Linux program built without cgo asks for glibc's libraries by name; where the C library is musl, build with cgo.
// On arm64, musl and glibc lay out libibverbs' objects differently: the build tag musl chooses, and [Load] refuses to go
// on with the wrong one.
// FreeBSD without cgo needs -tags goverbs_fakecgo -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std. Everywhere
// else, and without them, the package compiles, [Load] fails, and nothing can be called.
package dl

import (
	"errors"
	"fmt"
	"os"
	"sync"
)

// ErrNoLibrary says that there is no library that this program could load.
var ErrNoLibrary = errors.New("there is no libibverbs to load")

const (
	// soname carries the ABI's version. libibverbs.so without it belongs to the development package.
	soname = "libibverbs.so.1"

	// overrideVariable names the library to load instead.
	overrideVariable = "GOVERBS_LIBIBVERBS"
)

// Library is a loaded library. It is never unloaded: libibverbs' providers keep threads and pointers into it.
type Library struct {
	name    string
	handle  uintptr
	symbols sync.Map // string -> uintptr
}

// loader remembers a library once it is loaded. A failure is not remembered, because installing the missing package
// mends it without starting the program again.
type loader struct {
	mu      sync.Mutex
	library *Library
}

var process loader

// Load returns the process's libibverbs, loading it at the first call. It is safe for concurrent use. The error is
// [ErrNoLibrary], unless the program is built for another C library.
// Later calls return the same library, whatever became of GOVERBS_LIBIBVERBS; after a failure, the next call tries again.
func Load() (*Library, error) {
	return process.load()
}

func (l *loader) load() (*Library, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.library != nil {
		return l.library, nil
	}
	name := os.Getenv(overrideVariable)
	overridden := name != ""
	if !overridden {
		name = soname
	}
	library, err := Open(name)
	if err != nil {
		return nil, missing(overridden, err)
	}
	if err := fits(builtFor, cLibrary()); err != nil {
		return nil, err
	}
	l.library = library
	return library, nil
}

// Open loads another library, for the tests of what calls into C. The name is one the dynamic linker looks for, or a path.
func Open(name string) (*Library, error) {
	handle, err := openLibrary(name)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	return &Library{name: name, handle: handle}, nil
}

// Name returns the name the library was loaded by.
func (l *Library) Name() string { return l.name }
