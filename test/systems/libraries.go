package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// runLibraries runs the device tests with each library that is given, its providers beside it. Those for musl are another
// part's.
func runLibraries(s *session) error {
	if len(s.libraries) == 0 {
		return nil // it is the caller who has them
	}
	var failed []error
	for _, p := range s.libraries {
		if err := s.runLibrary(p); err != nil {
			failed = append(failed, fmt.Errorf("release %s: %w", p.release, err))
		}
	}
	return errors.Join(failed...)
}

func (s *session) runLibrary(p pair) error {
	if strings.HasPrefix(p.release, freeBSDRelease) {
		return nil // they have other layouts: see runFreeBSD
	}
	if arch, err := muslArch(p.path); err != nil || arch != "" {
		return err
	}
	env, err := libraryEnv(p.path)
	if err != nil {
		return err
	}
	r, where := record{Release: p.release, CLibrary: "glibc"}, place{guest: "uml", env: env}
	if len(env) > 1 {
		// They take the providers away where the library was built for, which is not where these are.
		where.skip = "TestOpenWhatCannotBeHad|TestMissingProvider"
		r.Note = "moved from where it was built for: without the tests of missing providers"
	}
	for _, cgo := range s.cgo() {
		if err := s.deviceTests(r, build{arch: "amd64", cgo: cgo}, where); err != nil {
			return fmt.Errorf("CGO_ENABLED=%s: %w", cgo, err)
		}
	}
	return nil
}

// cgo is the values of CGO_ENABLED to try.
func (s *session) cgo() []string {
	if s.brief {
		return []string{"0"}
	}
	return []string{"0", "1"}
}

var providerFile = regexp.MustCompile(`^(.*)-rdmav\d+\.so$`)

// libraryEnv is the environment in which a library is used. One that was not built for the place it is in has its
// providers named, in the folders that distributions have them in beside it.
func libraryEnv(library string) ([]string, error) {
	env := []string{"GOVERBS_LIBIBVERBS=" + library}
	content, err := os.ReadFile(library)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(library))
	if err != nil {
		return nil, err
	}
	if bytes.Contains(content, []byte("\x00"+filepath.Join(dir, "libibverbs"))) { // a whole text of C's
		return env, nil
	}
	var drivers []string
	for _, folder := range []string{"libibverbs", "."} {
		files, err := filepath.Glob(filepath.Join(dir, folder, "lib*-rdmav*.so"))
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			// libibverbs adds the ending itself: it is the version of its interface with providers.
			if m := providerFile.FindStringSubmatch(file); m != nil && !slices.Contains(drivers, m[1]) {
				drivers = append(drivers, m[1])
			}
		}
	}
	if len(drivers) == 0 {
		return nil, fmt.Errorf("%s was not built for that place, and no provider is beside it", library)
	}
	all := strings.Join(drivers, ":")
	return append(env, "RDMAV_DRIVERS="+all, "IBV_DRIVERS="+all), nil
}
