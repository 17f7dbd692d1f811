package headers

import (
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every RDMA header on this machine is known, and in the package that dpkg says.
func TestPackages(t *testing.T) {
	if _, err := exec.LookPath("dpkg"); err != nil {
		t.Skip("no dpkg here to say which package has a header")
	}
	var paths []string
	for _, folder := range []string{"infiniband", "rdma"} {
		err := fs.WalkDir(os.DirFS("/usr/include"), folder, func(name string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				paths = append(paths, "/usr/include/"+name)
			}
			return err
		})
		require.NoError(t, err)
	}
	// It fails if no package brought one of them, and names the others'.
	out, _ := exec.Command("dpkg", append([]string{"-S"}, paths...)...).Output()
	checked := 0
	for line := range strings.Lines(string(out)) {
		owner, path, _ := strings.Cut(strings.TrimSpace(line), ": ")
		owner, _, _ = strings.Cut(owner, ":")
		packages, known := Packages(strings.TrimPrefix(path, "/usr/include/"))
		assert.True(t, known, path)
		assert.Contains(t, packages, "Debian, Ubuntu: "+owner+";", path)
		checked++
	}
	assert.Greater(t, checked, 30, "of %d headers", len(paths))
}

func TestUnknownHeaders(t *testing.T) {
	for header, want := range map[string]string{
		"infiniband/nope.h": "Debian, Ubuntu: libibverbs-dev;",
		"rdma/nope.h":       "Debian, Ubuntu: linux-libc-dev;",
		"linux/nope.h":      "Debian, Ubuntu: linux-libc-dev;",
		"nope.h":            "",
	} {
		packages, known := Packages(header)
		assert.False(t, known, header)
		if want == "" {
			assert.Empty(t, packages)
		} else {
			assert.Contains(t, packages, want, header)
		}
	}
}
