package main

import (
	"os"
	"path/filepath"
	"strings"
)

// A build is how the device tests are compiled.
type build struct {
	arch    string // a GOARCH
	cgo     string // CGO_ENABLED
	cc      string // the C compiler of cgo, with its flags; "" is cc
	tags    string // build tags besides those of device tests
	ldflags string
	goLang  string // GOTOOLCHAIN; "" is the one in use
}

func (b build) env() []string {
	env := []string{"GOOS=linux", "GOARCH=" + b.arch, "CGO_ENABLED=" + b.cgo}
	if b.cc != "" {
		env = append(env, "CC="+b.cc)
	}
	if b.goLang != "" {
		env = append(env, "GOTOOLCHAIN="+b.goLang)
	}
	return env
}

// binaries are what a build gave.
type binaries struct {
	dir string
	// told prints which libibverbs was loaded, and the devices.
	told string
	// tests are those of ibv and of rdma on a device.
	tests []string
	// scenarios is the conformance suite.
	scenarios string
	goVersion string // "1.26.8"
}

// binaries compiles the device tests, once for each build.
func (s *session) binaries(b build) (binaries, error) {
	key := strings.Join(append(b.env(), b.tags, b.ldflags), "|")
	if made, ok := s.built[key]; ok {
		return made, nil
	}
	dir, err := os.MkdirTemp(s.work, "tests")
	if err != nil {
		return binaries{}, err
	}
	made := binaries{
		dir: dir, told: filepath.Join(dir, "told"),
		tests:     []string{filepath.Join(dir, "device.test"), filepath.Join(dir, "rdma.test")},
		scenarios: filepath.Join(dir, "conformance.test"),
	}
	flags := func(tags, out, pkg string, more ...string) []string {
		if b.tags != "" {
			tags += "," + b.tags
		}
		return append(more, "-tags", strings.Trim(tags, ","), "-ldflags", b.ldflags, "-o", out, pkg)
	}
	for _, args := range [][]string{
		flags("", made.told, "./test/systems/told", "build"),
		flags("device,siw", made.tests[0], "./test/device", "test", "-c"),
		flags("device,siw", made.tests[1], "./test/rdma", "test", "-c"),
		flags("", made.scenarios, "./conformance", "test", "-c"),
	} {
		if _, err := s.command(b.env(), "go", args...); err != nil {
			return binaries{}, err
		}
	}
	version, err := s.command(b.env(), "go", "env", "GOVERSION")
	if err != nil {
		return binaries{}, err
	}
	made.goVersion = strings.TrimPrefix(strings.TrimSpace(version), "go")
	s.built[key] = made
	return made, nil
}
