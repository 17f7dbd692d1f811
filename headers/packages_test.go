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
	checked := 0
	for _, folder := range []string{"infiniband", "rdma"} {
		err := fs.WalkDir(os.DirFS("/usr/include"), folder, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			out, err := exec.Command("dpkg", "-S", "/usr/include/"+name).Output()
			if err != nil {
				return nil // no package brought it
			}
			owner, _, _ := strings.Cut(string(out), ":")
			packages, known := Packages(name)
			assert.True(t, known, name)
			assert.Contains(t, packages, "Debian, Ubuntu: "+owner+";", name)
			checked++
			return nil
		})
		require.NoError(t, err)
	}
	assert.Greater(t, checked, 30)
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
