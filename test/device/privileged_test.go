//go:build device && linux

package device

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
)

// Whoever starts a program that has rights of its own must not choose the code that runs with them.
func TestEnvironmentOfPrivilegedPrograms(t *testing.T) {
	folder, err := os.MkdirTemp("", "privileged")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	require.NoError(t, os.Chmod(folder, 0o777)) // logs may be written there
	itself, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	library := filepath.Join(folder, "libibverbs.so.1")
	require.NoError(t, os.WriteFile(library, []byte("not a library"), 0o644))
	log := filepath.Join(folder, "log")
	chosen := []string{
		"GOVERBS_LIBRARIES=" + folder,
		"RDMAV_DRIVERS=" + folder + "/driver", "IBV_DRIVERS=" + folder + "/driver",
		"VERBS_LOG_LEVEL=4", "VERBS_LOG_FILE=" + log,
	}
	for name, tt := range map[string]struct {
		mode         os.FileMode
		chosen       []string
		follows      bool
		capabilities []byte
	}{
		"none":         {mode: 0o755},
		"a library":    {mode: 0o755, chosen: []string{"GOVERBS_LIBIBVERBS=" + library}, follows: true},
		"a folder":     {mode: 0o755, chosen: chosen[:1], follows: true},
		"a driver":     {mode: 0o755, chosen: chosen[1:3], follows: true},
		"set-user-ID":  {mode: 0o755 | os.ModeSetuid, chosen: append(chosen, "GOVERBS_LIBIBVERBS="+library)},
		"set-group-ID": {mode: 0o755 | os.ModeSetgid, chosen: append(chosen, "GOVERBS_LIBIBVERBS="+library)},
		"capabilities": {mode: 0o755, chosen: append(chosen, "GOVERBS_LIBIBVERBS="+library), capabilities: lockMemory},
	} {
		t.Run(name, func(t *testing.T) {
			program := filepath.Join(folder, strings.ReplaceAll(name, " ", "-"))
			require.NoError(t, os.WriteFile(program, itself, 0o755))
			require.NoError(t, os.Chmod(program, tt.mode))
			if tt.capabilities != nil {
				require.NoError(t, unix.Setxattr(program, "security.capability", tt.capabilities, 0))
			}
			said := asNobody(t, program, tt.chosen)
			if tt.follows {
				require.Contains(t, said, folder)
			} else {
				require.NotContains(t, said, folder)
				require.NoFileExists(t, log)
			}
			if !tt.follows && tt.chosen != nil && !strings.Contains(said, "library: ") {
				require.Contains(t, said, "GOVERBS_LIBIBVERBS and GOVERBS_LIBRARIES are not followed")
			}
		})
	}
}

// lockMemory is what setcap cap_ipc_lock=ep writes: a version with the bit that says effective, and then what is permitted
// and what is inherited, of the first 32 and of the others.
var lockMemory = []byte{1, 0, 0, 2, 0, 1 << (unix.CAP_IPC_LOCK - 8), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

// asNobody has a user without rights run a program that is these tests, with nothing in the environment that says what
// to load but what is given, and gives what it said.
func asNobody(t *testing.T, program string, env []string) string {
	t.Helper()
	cmd := exec.Command(program, "-test.run=^TestTellLibrary$")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOVERBS_LIB") || strings.HasPrefix(v, "RDMAV_") || strings.HasPrefix(v, "IBV_")
	})
	cmd.Env = append(append(cmd.Env, elsewhere+"=1"), env...)
	said, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", said)
	require.Regexp(t, `(?m)^(library|error): `, string(said))
	return string(said)
}

// TestTellLibrary is what other tests run in processes of their own.
func TestTellLibrary(t *testing.T) {
	if os.Getenv(elsewhere) == "" {
		return
	}
	info, err := ibv.Library()
	if err != nil {
		require.ErrorIs(t, err, ibv.ErrNoLibrary)
		fmt.Println("error:", err)
		return
	}
	fmt.Println("library:", info)
	list, err := ibv.Devices()
	require.NoError(t, err)
	var all []error
	for _, d := range list.All() {
		ctx, err := d.Open()
		all = append(all, err)
		if err == nil {
			all = append(all, ctx.Close())
		}
		fmt.Println("device:", d, err)
	}
	require.NoError(t, errors.Join(append(all, list.Close())...))
	ctx, err := ibv.Open(deviceName)
	fmt.Println("open:", err)
	if err == nil {
		require.NoError(t, ctx.Close())
	}
}
