//go:build softroce

package vendoring

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program that a module with goverbs vendored makes, offline and without a C compiler, works on a device.
func TestVendoredInGuest(t *testing.T) {
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	u := newUser(t, root)
	program := filepath.Join(u.dir, "program")
	u.run(u.offline(), "build", "-o", program, ".")
	out, err := exec.Command(filepath.Join(root, "test", "softroce", cmp.Or(os.Getenv("GUEST"), "vm")), program).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "rxe0")
	require.Contains(t, string(out), "the message came back")
}
