package docs

import (
	"fmt"
	"go/build"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/headers"
	"github.com/goverbs/goverbs/internal/apidoc"
)

// programmed are the packages that programs import.
var programmed = []string{"clib", "conformance", "ibv", "ibvtest", "rdma"}

// The API of each package is what api/ has of it: what changes there is seen in a review, and belongs into CHANGELOG.md.
// It is one API for all targets, but for FreeBSD's.
func TestAPI(t *testing.T) {
	for _, name := range programmed {
		importPath := "github.com/goverbs/goverbs/" + name
		head := fmt.Sprintf("package %s // import %q", name, importPath)
		apis := map[string][]string{}
		for system, targets := range buildTargets() {
			known := map[string]bool{} // files
			for i, target := range targets {
				files, err := apidoc.Files(&target, "../"+name)
				require.NoError(t, err)
				files = slices.DeleteFunc(files, func(file string) bool { return strings.HasSuffix(file, "_test.go") })
				id := fmt.Sprint(files)
				if known[id] {
					continue
				}
				known[id] = true
				api, err := apidoc.API("../"+name, importPath, files)
				require.NoError(t, err)
				api = slices.Insert(api, 0, head)
				if i == 0 {
					apis[system] = api
				}
				require.Empty(t, changes(apis[system], api), "package %s has another API for %s/%s with tags %v than for %s/%s",
					name, target.GOOS, target.GOARCH, target.BuildTags, targets[0].GOOS, targets[0].GOARCH)
			}
		}
		require.Greater(t, len(apis[""]), 5, name)
		for system, api := range apis {
			file, want := "api/"+name+system+".txt", strings.Join(api, "\n")+"\n"
			if system != "" && slices.Equal(api, apis[""]) {
				want = ""
			}
			there, err := os.ReadFile(file)
			switch {
			case !*write:
				change := changes(strings.Split(strings.TrimSuffix(string(there), "\n"), "\n"), strings.Split(strings.TrimSuffix(want, "\n"), "\n"))
				assert.True(t, want == string(there), "the API of package %s changes:\n%s\nIf that is meant, tell of it in CHANGELOG.md, and: go test ./docs -write\n", name, change)
			case want != "":
				require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
			case err == nil:
				require.NoError(t, os.Remove(file))
			}
		}
	}
	files, err := filepath.Glob("api/*")
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), ".txt"), "_freebsd")
		assert.Contains(t, programmed, name, "%s is of no package", file)
	}
}

// Everything exported is documented, in sentences.
func TestEverythingIsDocumented(t *testing.T) {
	for _, name := range programmed {
		p, err := apidoc.Read("../"+name, "github.com/goverbs/goverbs/"+name)
		require.NoError(t, err)
		assert.NotEmpty(t, p.Doc, name)
		for declaration, text := range apidoc.Declarations(p) {
			if apidoc.IsExported(declaration) {
				assert.Regexp(t, apidoc.Sentence, text, "the documentation of %s.%s is a sentence", name, declaration)
			}
		}
	}
}

// buildTargets are the targets by what the files of their API end in: all that bindings are written for, with each tag
// that takes other files, and some of the rest.
func buildTargets() map[string][]build.Context {
	targets := map[string][]build.Context{}
	add := func(system, goos, goarch string, cgo bool, tags ...string) {
		target := build.Default
		target.GOOS, target.GOARCH, target.CgoEnabled, target.BuildTags = goos, goarch, cgo, tags
		targets[system] = append(targets[system], target)
	}
	for system, goos := range map[string]string{"": "linux", "_freebsd": "freebsd"} {
		for _, target := range headers.GoTargets(goos) {
			for _, cgo := range []bool{false, true} {
				for _, tags := range [][]string{nil, {"musl"}, {"race"}, {"goverbs_fakecgo"}} {
					add(system, goos, target.Arch, cgo, tags...)
				}
			}
		}
	}
	for _, other := range [][2]string{{"darwin", "arm64"}, {"windows", "amd64"}, {"js", "wasm"}, {"openbsd", "riscv64"}} {
		add("", other[0], other[1], false)
	}
	return targets
}

// changes are the lines that one API has more often than another, with what they are in.
func changes(before, after []string) string {
	lines := func(api []string) map[string]int {
		all, within := map[string]int{}, ""
		for line := range strings.SplitSeq(strings.Join(api, "\n"), "\n") {
			switch member, is := strings.CutPrefix(line, "\t"); {
			case is:
				line = within + " " + member
			case strings.HasSuffix(line, "{"):
				within = line
			case line == "}":
				continue
			}
			all[line]++
		}
		return all
	}
	old, now := lines(before), lines(after)
	var b strings.Builder
	for _, line := range slices.Sorted(maps.Keys(old)) {
		if old[line] > now[line] {
			b.WriteString("- " + line + "\n")
		}
	}
	for _, line := range slices.Sorted(maps.Keys(now)) {
		if now[line] > old[line] {
			b.WriteString("+ " + line + "\n")
		}
	}
	return b.String()
}
