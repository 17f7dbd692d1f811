package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goverbs/goverbs/internal/suites"
)

// runKernels runs the device tests with this machine's library on the kernels of the distribution's suites, under QEMU.
func runKernels(s *session) error {
	archive, err := suites.Archive()
	if err != nil {
		s.saw(record{What: tests, Note: err.Error()})
		return nil
	}
	var failed []error
	var seen []string
	chosen := strings.Fields(os.Getenv(suitesVariable))
	for _, system := range archive.Suites() {
		if s.brief {
			break // another kernel's download is longer than all other parts
		}
		suite := system.Version
		if len(chosen) > 0 && !slices.Contains(chosen, suite) {
			continue
		}
		k, err := kernelOf(s, suite)
		switch {
		case err != nil:
			failed = append(failed, err)
		case slices.Contains(seen, k.release):
			// One that is still worked on may have the kernel of the one that is worked on for it.
		case !k.atLeast(6, 1):
			s.saw(record{What: tests, Kernel: k.release, Note: "older than 6.1, which the guests begin with"})
		default:
			seen = append(seen, k.release)
			if err := k.run(s); err != nil {
				failed = append(failed, fmt.Errorf("the kernel of %s: %w", suite, err))
			}
		}
	}
	return errors.Join(failed...)
}

// A suiteKernel is a suite's kernel for this processor.
type suiteKernel struct {
	suite   string
	image   string // the package: "linux-image-7.2.13+deb14-amd64"
	release string // what uname -r tells: "7.2.13+deb14-amd64"
}

const imagePrefix = "linux-image-"

// kernelOf is the newest kernel of a suite: what its metapackage stands for.
func kernelOf(s *session, suite string) (suiteKernel, error) {
	names, err := suites.Depends(s.ctx, suite, "amd64", imagePrefix+"amd64")
	if err != nil {
		return suiteKernel{}, err
	}
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasPrefix(name, imagePrefix) })
	if i < 0 {
		return suiteKernel{}, fmt.Errorf("%samd64 of %s depends on no kernel, but on %s", imagePrefix, suite, strings.Join(names, ", "))
	}
	return suiteKernel{suite, names[i], strings.TrimPrefix(names[i], imagePrefix)}, nil
}

func (k suiteKernel) version() (major, minor int) {
	f := strings.FieldsFunc(k.release, func(r rune) bool { return r < '0' || r > '9' })
	if len(f) < 2 {
		return 0, 0
	}
	major, _ = strconv.Atoi(f[0])
	minor, _ = strconv.Atoi(f[1])
	return major, minor
}

func (k suiteKernel) atLeast(major, minor int) bool {
	have, haveMinor := k.version()
	return have > major || have == major && haveMinor >= minor
}

func (k suiteKernel) run(s *session) error {
	cache, err := k.guest(s)
	if err != nil {
		return err
	}
	r := record{CLibrary: cLibrary()}
	if r.System, r.Release, err = ownSystem(); err != nil {
		return err
	}
	return s.deviceTests(r, build{arch: "amd64", cgo: "0"}, place{
		guest: "vm",
		// A test asks for two gigabytes at once.
		guestEnv: []string{"GOVERBS_CACHE=" + cache, "VM_TIMEOUT=3600", "VM_MEM=6G"},
		// It wants siw0 in front of rxe0, and QEMU's guest has them the other way round.
		skip: "TestSiwIsNotTheFirstChoice",
	})
}

// guest is the folder that test/softroce is to take for its cache: one with a guest of this kernel, which is made now if
// there is none.
func (k suiteKernel) guest(s *session) (cache string, err error) {
	setup := filepath.Join(s.root, "test/softroce/setup")
	// No more than one kernel of each suite is kept.
	parent := filepath.Join(cacheFolder(s.root), "kernels", k.suite)
	cache = filepath.Join(parent, k.release)
	env := []string{"GOVERBS_CACHE=" + cache}
	if _, err := s.command(env, setup, "--cached"); err == nil {
		return cache, nil
	}
	if err := errors.Join(os.RemoveAll(parent), os.MkdirAll(cache, 0o755)); err != nil {
		return "", err
	}
	packages := filepath.Join(s.work, k.release)
	if err := os.MkdirAll(packages, 0o755); err != nil {
		return "", err
	}
	image, err := k.packages(s, packages)
	if err != nil {
		return "", err
	}
	_, err = s.command(append(env, "GOVERBS_KERNEL_DEB="+image), setup)
	return cache, err
}

// packages puts all packages that a guest is made of into a folder, and gives the file of the kernel's.
func (k suiteKernel) packages(s *session, dir string) (image string, err error) {
	major, minor := k.version()
	headers := "linux-headers-" + k.release
	groups := [][]string{{k.image}, {headers, fmt.Sprintf("linux-source-%d.%d", major, minor)}, nil}
	depends := func(name string, wanted ...string) (found []string, err error) {
		all, err := suites.Depends(s.ctx, k.suite, "amd64", name)
		for _, dependence := range all {
			if slices.ContainsFunc(wanted, func(prefix string) bool { return strings.HasPrefix(dependence, prefix) }) {
				found = append(found, dependence)
			}
		}
		return found, err
	}
	parts, err := depends(k.image, "linux-base-", "linux-binary-", "linux-modules-")
	if err != nil {
		return "", err
	}
	groups[0] = append(groups[0], parts...)
	if parts, err = depends(headers, "linux-headers-", "linux-kbuild-"); err != nil {
		return "", err
	}
	groups[1] = append(groups[1], parts...)
	// The libraries that its build's programs need, and those that these do.
	var libraries []string
	for _, name := range parts {
		if strings.HasPrefix(name, "linux-kbuild-") {
			if libraries, err = depends(name, "lib", "zlib1g"); err != nil {
				return "", err
			}
		}
	}
	groups[2] = slices.Clone(libraries)
	for _, name := range libraries {
		if parts, err = depends(name, "lib", "zlib1g"); err != nil {
			return "", err
		}
		groups[2] = append(groups[2], parts...)
	}
	for _, names := range groups {
		slices.Sort(names)
		debs, err := suites.Download(s.ctx, k.suite, "amd64", slices.Compact(names)...)
		if err != nil {
			return "", err
		}
		for _, deb := range debs {
			link := filepath.Join(dir, filepath.Base(deb))
			if err := os.Symlink(deb, link); err != nil {
				return "", err
			}
			if strings.HasPrefix(filepath.Base(deb), k.image+"_") {
				image = link
			}
		}
	}
	return image, nil
}

// cacheFolder is where test/softroce keeps guests.
func cacheFolder(root string) string {
	if dir := os.Getenv("GOVERBS_CACHE"); dir != "" {
		return dir
	}
	return filepath.Join(root, ".cache")
}
