package dl

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// packages lists what to install where, because the dynamic linker's own message only repeats the file's name. Where a
// system divides rdma-core, each library is in a package of its own; the providers' are with libibverbs', but on openSUSE.
var packages = []struct {
	system, command string
	verbs           string            // what has libibverbs, and the providers with it
	others          map[string]string // what has another library, by its name up to the first dot
}{
	{system: "Alpine", command: "apk add", verbs: "rdma-core-libs"},
	{system: "Arch", command: "pacman -S", verbs: "rdma-core"},
	{system: "CentOS Stream, Fedora", command: "dnf install", verbs: "libibverbs",
		others: map[string]string{"librdmacm": "librdmacm", "libibumad": "libibumad", "libibmad": "infiniband-diags", "libibnetdisc": "infiniband-diags"}},
	{system: "Debian, Ubuntu", command: "apt install", verbs: "libibverbs1 ibverbs-providers",
		others: map[string]string{"librdmacm": "librdmacm1", "libibumad": "libibumad3", "libibmad": "libibmad5", "libibnetdisc": "libibnetdisc5"}},
	{system: "FreeBSD", verbs: "part of the base system"},
	{system: "NixOS", verbs: "rdma-core, with its lib directory in LD_LIBRARY_PATH"},
	{system: "openSUSE", command: "zypper install", verbs: "libibverbs1 libibverbs",
		others: map[string]string{"librdmacm": "librdmacm1", "libibumad": "libibumad3", "libibmad": "libibmad5", "libibnetdisc": "libibnetdisc5",
			"libmlx4": "libmlx4-1", "libmlx5": "libmlx5-1", "libefa": "libefa1", "libmana": "libmana1", "libhns": "libhns1"}},
}

// ofRDMACore are the libraries that come with those packages.
var ofRDMACore = []string{"libibverbs", "librdmacm", "libibumad", "libibmad", "libibnetdisc", "libmlx4", "libmlx5", "libefa", "libmana", "libhns"}

// missing turns the dynamic linker's refusal into something to act on.
func (c choice) missing(cause error) error {
	switch {
	case errors.Is(cause, errors.ErrUnsupported):
		return fmt.Errorf("%w: %w", ErrNoLibrary, cause)
	case c.variable != "":
		return fmt.Errorf("%w: %w (the name is from %s); unset %s to load the system's %s, which comes with %s",
			ErrNoLibrary, cause, c.variable, c.variable, c.soname, packageList(c.soname))
	}
	way := "name its folder in " + foldersVariable
	if c.soname == Libibverbs {
		way = "name the library in " + overrideVariable
	}
	if why := withheld(); why != "" {
		return fmt.Errorf("%w: %w; %s comes with %s; %s and %s are not followed, because %s",
			ErrNoLibrary, cause, c.soname, packageList(c.soname), overrideVariable, foldersVariable, why)
	}
	return fmt.Errorf("%w: %w; %s comes with %s; or %s", ErrNoLibrary, cause, c.soname, packageList(c.soname), way)
}

// packageList says where a library comes from, to go on after "comes with".
func packageList(soname string) string {
	word, _, _ := strings.Cut(soname, ".")
	if !slices.Contains(ofRDMACore, word) {
		return "a package that is not known here"
	}
	parts := make([]string, 0, len(packages))
	for _, p := range packages {
		what := p.verbs
		if other := p.others[word]; other != "" {
			what = other
		}
		parts = append(parts, p.system+": "+strings.TrimSpace(p.command+" "+what))
	}
	return "[" + strings.Join(parts, "; ") + "]"
}
