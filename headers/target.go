package headers

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Target is a machine that C headers are read for.
type Target struct {
	OS   string // a GOOS
	Arch string // a GOARCH
	Libc string // "glibc", "musl" or "freebsd"
}

// String is the target as the generator's -target flag takes it, at its
// shortest: the system's usual C library goes without saying.
func (t Target) String() string {
	if t.Libc == usualLibc(t.OS) {
		return t.OS + "/" + t.Arch
	}
	return t.OS + "/" + t.Arch + "/" + t.Libc
}

// BigEndian reports whether the target stores the most significant byte first.
func (t Target) BigEndian() bool { return machines[t.Arch].bigEndian }

// arches lists the processors of each system that C headers can be read for.
var arches = map[string][]string{
	"freebsd": {"amd64", "arm64"},
	"linux":   {"386", "amd64", "arm", "arm64", "loong64", "ppc64le", "riscv64", "s390x"},
}

// libcs lists the C libraries of each system, the usual one first.
var libcs = map[string][]string{
	"freebsd": {"freebsd"},
	"linux":   {"glibc", "musl"},
}

func usualLibc(os string) string {
	if all := libcs[os]; len(all) > 0 {
		return all[0]
	}
	return ""
}

// Targets lists every target that headers can be read for.
func Targets() []Target {
	var all []Target
	for _, os := range slices.Sorted(maps.Keys(arches)) {
		for _, arch := range arches[os] {
			for _, libc := range libcs[os] {
				all = append(all, Target{OS: os, Arch: arch, Libc: libc})
			}
		}
	}
	return all
}

// DistinctTargets lists the targets of one system. A second C library counts
// where it lays out the types that objects embed differently, as musl does on
// arm64.
func DistinctTargets(os string) []Target {
	var all []Target
	for _, t := range Targets() {
		usual := Target{OS: t.OS, Arch: t.Arch, Libc: usualLibc(t.OS)}
		if t.OS == os && (t == usual || t.embedded() != usual.embedded()) {
			all = append(all, t)
		}
	}
	return all
}

// GoTargets lists the targets of one system that Go bindings are written for:
// those of 64 bits.
func GoTargets(os string) []Target {
	var all []Target
	for _, t := range DistinctTargets(os) {
		if machines[t.Arch].pointer == 8 {
			all = append(all, t)
		}
	}
	return all
}

// ParseTarget reads "os/arch" or "os/arch/libc".
func ParseTarget(s string) (Target, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Target{}, fmt.Errorf("target %q: want os/arch or os/arch/libc, such as linux/amd64 or linux/arm64/musl", s)
	}
	t := Target{OS: parts[0], Arch: parts[1]}
	known, ok := arches[t.OS]
	if !ok {
		return Target{}, fmt.Errorf("target %q: unknown system %q, want %s", s, t.OS, oneOf(slices.Sorted(maps.Keys(arches))))
	}
	if !slices.Contains(known, t.Arch) {
		return Target{}, fmt.Errorf("target %q: unknown processor %q, want %s", s, t.Arch, oneOf(known))
	}
	t.Libc = usualLibc(t.OS)
	if len(parts) == 3 {
		t.Libc = parts[2]
	}
	if !slices.Contains(libcs[t.OS], t.Libc) {
		return Target{}, fmt.Errorf("target %q: unknown C library %q, want %s", s, t.Libc, oneOf(libcs[t.OS]))
	}
	return t, nil
}

// oneOf lists what there is to choose from.
func oneOf(words []string) string {
	if len(words) == 1 {
		return words[0]
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
