package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/headers"
)

// runOwn compares this machine's own headers, and runs the device tests with its own libibverbs.
func runOwn(s *session) error {
	r := record{CLibrary: cLibrary()}
	var err error
	if r.System, r.Release, err = ownSystem(); err != nil {
		return err
	}
	if r.Release != "" {
		if err := s.compareHeaders(record{System: r.System, Release: r.Release}, "/usr/include"); err != nil {
			return err
		}
	}
	for _, cgo := range s.cgo() {
		if err := s.deviceTests(r, build{arch: runtime.GOARCH, cgo: cgo}, place{guest: "uml"}); err != nil {
			return fmt.Errorf("CGO_ENABLED=%s: %w", cgo, err)
		}
	}
	return nil
}

// ownSystem is this machine's row of the table, and the release that it ships; empty if it has none.
func ownSystem() (name, release string, err error) {
	told, err := osRelease("/etc/os-release")
	if err != nil {
		return "", "", err
	}
	if system, ok := systemOf(told, headers.Systems()); ok {
		return system.Name + " " + system.Version, system.Release, nil
	}
	return "", "", nil
}

// osRelease reads the variables of a system's description: os-release(5).
func osRelease(file string) (map[string]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all := map[string]string{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if name, value, ok := strings.Cut(lines.Text(), "="); ok {
			all[name] = strings.Trim(value, `"'`)
		}
	}
	return all, lines.Err()
}

// systemOf is the row of the table that a system is, if it is one of them.
func systemOf(release map[string]string, all []headers.System) (headers.System, bool) {
	name := release["ID"]
	versions := []string{release["VERSION_CODENAME"], release["VERSION_ID"]}
	if name == "centos" {
		name = "centos-stream"
	}
	i := slices.IndexFunc(all, func(s headers.System) bool {
		if s.Name != name {
			return false
		}
		if s.Version == "rolling" {
			return true
		}
		// Alpine's is 3.24.1, and its row 3.24.
		return slices.ContainsFunc(versions, func(v string) bool { return v == s.Version || strings.HasPrefix(v, s.Version+".") })
	})
	if i < 0 {
		return headers.System{}, false
	}
	return all[i], true
}

// cLibrary is this machine's, with its version: what ldd says of itself.
func cLibrary() string {
	out, _ := exec.Command("getconf", "GNU_LIBC_VERSION").Output() // musl's getconf knows no such name
	if text := strings.TrimSpace(string(out)); text != "" {
		return text
	}
	return "musl"
}
