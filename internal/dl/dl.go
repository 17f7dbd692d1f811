// Package dl finds and loads libibverbs and other C libraries without cgo, looks up their symbols, and calls C functions.
//
// # Which library
//
// [Load] opens libibverbs.so.1, wherever the system's dynamic linker finds it. The environment variable
// GOVERBS_LIBIBVERBS replaces that name: a path, or another name for the dynamic linker to look for. [LoadNamed] opens any
// library by its name. GOVERBS_LIBRARIES is a list of folders, as PATH is one: a library that one of them has is loaded
// from there, libibverbs too, unless GOVERBS_LIBIBVERBS names that. A program whose file is set-user-ID, set-group-ID or has
// capabilities follows neither, and withholds from libibverbs the variables by which that would load or write what whoever
// started the program likes.
//
// # Which systems
//
// Loading works on 64-bit Linux and FreeBSD wherever purego does: amd64, arm64, loong64, ppc64le, riscv64 and s390x on
// Linux, amd64 and arm64 on FreeBSD, with CGO_ENABLED=0 and with CGO_ENABLED=1. Linux on s390x without cgo needs Go 1.27;
// so does riscv64, or -ldflags="-I /lib/ld-linux-riscv64-lp64d.so.1", for a program that finds its dynamic linker.
// A Linux program that is built without cgo starts by way of glibc's dynamic linker. For musl, build it with
// -ldflags="-I /lib/ld-musl-x86_64.so.1" (aarch64 on arm64), or with cgo and musl's compiler; or start it by that linker.
// musl's does not recognise a library that was loaded by its path when another one asks for it by its name, as libibverbs'
// providers do: the folder has to be in LD_LIBRARY_PATH, too.
// On arm64, musl and glibc lay out libibverbs' objects differently: the build tag musl chooses, and [Load] refuses to go
// on with the wrong one.
// FreeBSD without cgo needs -tags goverbs_fakecgo -gcflags=github.com/ebitengine/purego/internal/fakecgo=-std. Everywhere
// else, and without them, the package compiles, [Load] fails, and nothing can be called.
package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrNoLibrary says that there is no such library that this program could load.
var ErrNoLibrary = errors.New("there is no such library to load")

// Libibverbs is the name that [Load] looks for. It carries the ABI's version: libibverbs.so without it belongs to the
// development package.
const Libibverbs = "libibverbs.so.1"

const (
	// overrideVariable names the library to load in place of Libibverbs.
	overrideVariable = "GOVERBS_LIBIBVERBS"

	// foldersVariable lists the folders in which libraries are looked for first.
	foldersVariable = "GOVERBS_LIBRARIES"
)

// Library is a loaded library. It is never unloaded: libibverbs' providers keep threads and pointers into it.
type Library struct {
	name    string
	handle  uintptr
	file    func() string
	symbols sync.Map // string -> uintptr
}

// loader remembers a library once it is loaded. A failure is not remembered, because installing the missing package
// mends it without starting the program again.
type loader struct {
	soname  string
	mu      sync.Mutex
	library *Library
}

var process = loader{soname: Libibverbs}

// others are the loaders of the libraries besides libibverbs, by soname.
var others sync.Map // string -> *loader

// Load returns the process's libibverbs, loading it at the first call. It is safe for concurrent use. The error is
// [ErrNoLibrary], unless the program is built for another C library.
// Later calls return the same library, whatever became of GOVERBS_LIBIBVERBS; after a failure, the next call tries again.
func Load() (*Library, error) {
	return process.load()
}

// LoadNamed is [Load] for the library of that soname, such as librdmacm.so.1. libibverbs is loaded before any other where
// it is not the system's, so that the others, which name it as what they need, get that one.
func LoadNamed(soname string) (*Library, error) {
	if soname == Libibverbs {
		return Load()
	}
	if choose(Libibverbs).variable != "" {
		if _, err := Load(); err != nil {
			return nil, err
		}
	}
	l, _ := others.LoadOrStore(soname, &loader{soname: soname})
	return l.(*loader).load()
}

func (l *loader) load() (*Library, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.library != nil {
		return l.library, nil
	}
	c := choose(l.soname)
	withhold()
	library, err := Open(c.name)
	if err != nil {
		return nil, c.missing(err)
	}
	if err := fits(builtFor, cLibrary()); err != nil {
		return nil, err
	}
	l.library = library
	return library, nil
}

// choice is what to load for a soname, and the variable of the environment that says so, or "".
type choice struct{ soname, name, variable string }

// choose finds out what to load. Only a library that is there is taken from a folder: of most, the system's will do.
func choose(soname string) choice {
	if name := environment(overrideVariable); name != "" && soname == Libibverbs {
		return choice{soname, name, overrideVariable}
	}
	for _, folder := range filepath.SplitList(environment(foldersVariable)) {
		name := filepath.Join(folder, soname)
		if !strings.ContainsRune(name, filepath.Separator) {
			name = "./" + name // or the dynamic linker would look for it elsewhere
		}
		if _, err := os.Stat(name); err == nil && folder != "" {
			return choice{soname, name, foldersVariable}
		}
	}
	return choice{soname: soname, name: soname}
}

// Open loads another library, for the tests of what calls into C. The name is one the dynamic linker looks for, or a path.
func Open(name string) (*Library, error) {
	handle, err := openLibrary(name)
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", name, err)
	}
	return newLibrary(name, handle), nil
}

// Name returns the name the library was loaded by.
func (l *Library) Name() string { return l.name }
