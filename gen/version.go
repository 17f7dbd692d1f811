package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// pcVersion finds rdma-core's release in libibverbs.pc: the last two numbers
// of the library's own version.
var pcVersion = regexp.MustCompile(`(?m)^Version:\s*[0-9]+\.[0-9]+\.([0-9]+\.[0-9]+)\s*$`)

// headersVersion is the release of the headers as the package that they came
// in says, beside the include folder, or "".
func headersVersion(dirs []string, header string) string {
	dir := folderOf(dirs, header)
	if dir == "" {
		return ""
	}
	for _, place := range []string{"lib/pkgconfig", "lib64/pkgconfig", "lib/*/pkgconfig", "libdata/pkgconfig", "share/pkgconfig"} {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(dir), filepath.FromSlash(place), "libibverbs.pc"))
		if err != nil {
			continue // a folder with a bracket in its name has no version
		}
		slices.Sort(files)
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				continue
			}
			if m := pcVersion.FindSubmatch(text); m != nil {
				return string(m[1])
			}
		}
	}
	return ""
}
