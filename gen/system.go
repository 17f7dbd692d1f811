package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// signs are headers that one system alone has. FreeBSD's libibverbs is a branch
// of its own; the kernel's headers can be installed without rdma-core's.
var signs = []struct{ header, system string }{
	{"infiniband/types.h", "freebsd"},
	{"infiniband/verbs_api.h", "linux"},
	{"infiniband/ib_user_ioctl_verbs.h", "linux"},
	{"linux/version.h", "linux"},
}

// systemNames is how people write a GOOS.
var systemNames = map[string]string{"freebsd": "FreeBSD", "linux": "Linux"}

// systemOf tells whose headers are in a folder, and which file shows it. Both
// are "" where none does, as beside plain C.
func systemOf(dir string) (system, sign string) {
	for _, s := range signs {
		name := filepath.Join(dir, filepath.FromSlash(s.header))
		if _, err := os.Stat(name); err == nil {
			return s.system, name
		}
	}
	return "", ""
}

// headersSystem is the system whose headers come first in the folders.
func headersSystem(dirs []string) string {
	for _, dir := range dirs {
		if system, _ := systemOf(dir); system != "" {
			return system
		}
	}
	return "linux"
}

// folderOf is the first of the folders that has a header, or "".
func folderOf(dirs []string, header string) string {
	for _, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(header))); err == nil {
			return dir
		}
	}
	return ""
}

// parseOwn reads a header for a target, unless it is a header of another system
// or includes one: that would give layouts that no library has.
func parseOwn(src cheader.Source, target headers.Target) (*abi.Facts, error) {
	if err := checkSystem(src.IncludeDirs, []string{src.Header}, target); err != nil {
		return nil, err
	}
	facts, err := cheader.Parse(src, target)
	if err != nil {
		return nil, err
	}
	return facts.Own(), checkSystem(src.IncludeDirs, facts.Headers, target)
}

// checkSystem refuses headers of another system than the target's. Headers that
// are in none of the folders of RDMA software or the kernel are of any system.
func checkSystem(dirs, names []string, target headers.Target) error {
	for _, name := range names {
		folder, _, _ := strings.Cut(name, "/")
		if folder != "infiniband" && folder != "rdma" && folder != "linux" {
			continue
		}
		dir := folderOf(dirs, name)
		if dir == "" {
			continue
		}
		if system, sign := systemOf(dir); system != "" && system != target.OS {
			return fmt.Errorf("reading %s for %s: the headers in %s are %s's, as %s shows; name the folder of %s's headers with -I, "+
				"or their facts with -facts where the command takes it",
				name, target, dir, systemNames[system], sign, systemNames[target.OS])
		}
	}
	return nil
}
