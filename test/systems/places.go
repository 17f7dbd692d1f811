package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/goverbs/goverbs/ibv"
)

// runPlaces has programs that name the dynamic linker and the folders of their libraries themselves, as those of NixOS do,
// find libibverbs in a root where it is in no usual place. Ways to tell a program that is there are in test/device.
func runPlaces(s *session) error {
	info, err := ibv.Library()
	if err != nil {
		return err
	}
	st, err := newStore(s, info.File)
	if err != nil {
		return err
	}
	folders := strings.Join([]string{st.verbs, st.c}, ":")
	var failed []error
	for _, way := range []struct {
		what  string
		build build
	}{
		{"RUNPATH by go's linker", build{cgo: "0", ldflags: "-I " + st.loader + " -r " + folders}},
		{"RUNPATH by C's linker", build{cgo: "1", ldflags: "-linkmode=external -extldflags '-Wl,--enable-new-dtags,--dynamic-linker=" + st.loader + ",-rpath=" + folders + "'"}},
		{"RPATH by C's linker", build{cgo: "1", ldflags: "-linkmode=external -extldflags '-Wl,--disable-new-dtags,--dynamic-linker=" + st.loader + ",-rpath=" + folders + "'"}},
	} {
		way.build.arch = runtime.GOARCH
		r := record{What: way.what, Release: info.Release, Processor: way.build.arch, CGO: way.build.cgo, CLibrary: cLibrary()}
		if err := st.tell(s, r, way.build); err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", way.what, err))
		}
	}
	return errors.Join(failed...)
}

// A store is a root with each package in a folder of its own, and nothing else.
type store struct {
	root string
	// The folders of packages within it.
	c, nl, verbs string
	loader       string
}

// loadedFiles are the paths in ldd's answer.
var loadedFiles = regexp.MustCompile(`(/[^ ]+) \(0x`)

func newStore(s *session, libibverbs string) (store, error) {
	st := store{root: filepath.Join(s.work, "store"), c: "/nix/store/0-glibc/lib", nl: "/nix/store/0-libnl/lib", verbs: "/nix/store/0-rdma-core/lib"}
	out, err := s.command(nil, "ldd", libibverbs)
	if err != nil {
		return st, err
	}
	// What the libraries of a Go program with cgo are, besides: glibc's own.
	ofC, err := s.command(nil, "ldd", filepath.Join(filepath.Dir(libibverbs), "libresolv.so.2"))
	if err != nil {
		return st, err
	}
	for _, m := range loadedFiles.FindAllStringSubmatch(out+ofC, -1) {
		file, name := m[1], filepath.Base(m[1])
		folder := st.c
		if strings.HasPrefix(name, "libnl") {
			folder = st.nl
		}
		if strings.HasPrefix(name, "ld-") {
			st.loader = filepath.Join(folder, name)
		}
		if err := st.copy(file, filepath.Join(folder, name)); err != nil {
			return st, err
		}
	}
	if st.loader == "" {
		return st, fmt.Errorf("ldd names no dynamic linker:\n%s", out)
	}
	for _, name := range []string{"libresolv.so.2", "libpthread.so.0", "libdl.so.2"} {
		if err := st.copy(filepath.Join(filepath.Dir(libibverbs), name), filepath.Join(st.c, name)); err != nil {
			return st, err
		}
	}
	name := filepath.Base(libibverbs)
	if err := st.copy(libibverbs, filepath.Join(st.verbs, name)); err != nil {
		return st, err
	}
	return st, os.Symlink(name, filepath.Join(st.root, st.verbs, "libibverbs.so.1"))
}

// copy has a file in the root.
func (st store) copy(from, to string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	to = filepath.Join(st.root, to)
	return errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, content, 0o755))
}

// tell runs told in the store.
func (st store) tell(s *session, r record, b build) error {
	dir, err := os.MkdirTemp(s.work, "told")
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "told")
	if _, err := s.command(b.env(), "go", "build", "-ldflags", b.ldflags, "-o", program, "./test/systems/told"); err != nil {
		return err
	}
	// Nix's libibverbs finds libnl by a RUNPATH of its own, which this machine's does not have.
	p := place{guest: "uml", root: st.root, env: []string{"LD_LIBRARY_PATH=" + st.nl}}
	outcomes, kernel, err := p.run(s, dir, []job{{name: "told", argv: []string{program}}})
	if err != nil {
		return err
	}
	r.Kernel, _, _ = strings.Cut(kernel, "-")
	if o := outcomes["told"]; o.status == "0" && strings.Contains(o.output, "library "+st.verbs+"/") {
		r.Passed = 1
	} else {
		r.Failed, r.Failures, r.Note = 1, []string{"told"}, tail(o.output, 2)
	}
	s.saw(r)
	return nil
}
