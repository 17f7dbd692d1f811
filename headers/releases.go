package headers

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

//go:embed facts/*.json.gz
var facts embed.FS

//go:embed systems.txt
var systemsText string

const factsSuffix = ".json.gz"

// Releases lists the releases whose facts are kept here, the oldest first:
// rdma-core's, then FreeBSD's.
func Releases() []string {
	entries, err := fs.ReadDir(facts, "facts")
	if err != nil {
		// The folder is embedded above: the program would not have been built.
		panic(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), factsSuffix))
	}
	slices.SortFunc(names, compareReleases)
	return names
}

// compareReleases orders releases as people count: 9.0 before 33.2, and what
// is not a number last.
func compareReleases(a, b string) int {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		x, errX := strconv.Atoi(as[i])
		y, errY := strconv.Atoi(bs[i])
		switch {
		case errX != nil && errY != nil:
			if c := strings.Compare(as[i], bs[i]); c != 0 {
				return c
			}
		case errX != nil:
			return 1
		case errY != nil:
			return -1
		case x != y:
			return x - y
		}
	}
	return len(as) - len(bs)
}

// Facts gives what infiniband/verbs.h declares in a release, for all targets:
// a compressed set of facts, as `gen facts -all` wrote it.
func Facts(release string) ([]byte, error) {
	if !slices.Contains(Releases(), release) {
		return nil, fmt.Errorf("facts of release %q: %w; there are those of %s", release, fs.ErrNotExist, strings.Join(Releases(), ", "))
	}
	return facts.ReadFile("facts/" + release + factsSuffix)
}

// A System is a distribution, or another source of libibverbs.
type System struct {
	Name    string // "debian"
	Version string // "bookworm"
	Release string // "44.0"
}

// Systems lists the systems that the generator cares for, and which release
// each ships.
func Systems() []System { return parseSystems([]byte(systemsText)) }

func parseSystems(text []byte) []System {
	var all []System
	for line := range bytes.Lines(text) {
		f := strings.Fields(string(line))
		if len(f) != 3 || strings.HasPrefix(f[0], "#") {
			continue
		}
		all = append(all, System{Name: f[0], Version: f[1], Release: f[2]})
	}
	return all
}
