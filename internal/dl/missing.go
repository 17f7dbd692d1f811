package dl

import (
	"errors"
	"fmt"
	"strings"
)

// packages lists what to install where, because the dynamic linker's own message only repeats the file's name.
var packages = []struct{ system, command string }{
	{"Alpine", "apk add rdma-core"},
	{"Arch", "pacman -S rdma-core"},
	{"CentOS Stream, Fedora", "dnf install libibverbs"},
	{"Debian, Ubuntu", "apt install libibverbs1 ibverbs-providers"},
	{"FreeBSD", "part of the base system"},
	{"NixOS", "rdma-core, with its lib directory in LD_LIBRARY_PATH"},
	{"openSUSE", "zypper install libibverbs1 libibverbs"},
}

// missing turns the dynamic linker's refusal into something to act on.
func missing(overridden bool, cause error) error {
	if errors.Is(cause, errors.ErrUnsupported) {
		return fmt.Errorf("%w: %w", ErrNoLibrary, cause)
	}
	if overridden {
		return fmt.Errorf("%w: %w (the name is from %s); unset %s to load the system's %s, which comes with %s",
			ErrNoLibrary, cause, overrideVariable, overrideVariable, soname, packageList())
	}
	return fmt.Errorf("%w: %w; %s comes with %s; or name the library in %s", ErrNoLibrary, cause, soname, packageList(), overrideVariable)
}

func packageList() string {
	parts := make([]string, 0, len(packages))
	for _, p := range packages {
		parts = append(parts, p.system+": "+p.command)
	}
	return "[" + strings.Join(parts, "; ") + "]"
}
