//go:build device && linux

package device

import (
	"debug/elf"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/test/internal/guest"
)

// What a program needs in a container from scratch, and what it says without: docs/containers.md.
func TestBareRoot(t *testing.T) {
	loader, clibrary, verbs, providers := needed(t)
	names := folderFiles(t, guest.ProvidersNames())
	for _, tt := range []struct {
		name  string
		files [][]string
		says  string // or why it does not start
	}{
		{"nothing", nil, "no such file or directory"},
		{"the C library", [][]string{clibrary}, "error: ibv: tell which libibverbs is loaded: there is no such library to load: "},
		{"libibverbs", [][]string{clibrary, verbs}, "open: ibv: open RDMA device \"" + deviceName + "\": no such device (ENODEV); the kernel has " + deviceName + ", and libibverbs no provider for it"},
		{"names of providers", [][]string{clibrary, verbs, names}, "libibverbs no provider for it"},
		{"all", [][]string{clibrary, verbs, names, providers}, "open: <nil>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := newRoot(t)
			for _, file := range slices.Concat(tt.files...) {
				root.copy(file, file)
			}
			if tt.files != nil {
				root.copy(loader, interpreter(t))
			}
			said, err := root.run(os.Environ(), "/program")
			if tt.files == nil {
				require.ErrorIs(t, err, syscall.ENOENT, "though the program is there")
				return
			}
			require.NoError(t, err, "%s", said)
			require.Contains(t, said, tt.says)
		})
	}
}

// On NixOS every package has a folder of its own and the usual ones are not there: what is not built for that is told by
// paths where everything is.
func TestStore(t *testing.T) {
	loader, clibrary, verbs, providers := needed(t)
	root := newRoot(t)
	var folders, drivers []string
	library := ""
	for _, file := range slices.Concat(clibrary, verbs, providers) {
		folder := "/nix/store/0-" + strings.TrimSuffix(filepath.Base(file), ".so") + "/lib"
		at := filepath.Join(folder, filepath.Base(file))
		root.copy(file, at)
		folders = append(folders, folder)
		if m := providerFile.FindStringSubmatch(at); m != nil {
			drivers = append(drivers, m[1])
		}
		if strings.HasPrefix(filepath.Base(file), ibvSoname) {
			library = at
		}
	}
	start := "/nix/store/0-glibc/lib/" + filepath.Base(loader)
	root.copy(loader, start)
	env := slices.DeleteFunc(os.Environ(), func(v string) bool {
		return strings.HasPrefix(v, "GOVERBS_LIB") || strings.HasPrefix(v, "RDMAV_") || strings.HasPrefix(v, "IBV_") || strings.HasPrefix(v, "LD_")
	})
	path, all := "LD_LIBRARY_PATH="+strings.Join(folders, ":"), strings.Join(drivers, ":")
	for _, tt := range []struct {
		name, says string
		env        []string
	}{
		{"by LD_LIBRARY_PATH", "open: <nil>", []string{"RDMAV_DRIVERS=" + all}},
		{"by GOVERBS_LIBIBVERBS", "open: <nil>", []string{"RDMAV_DRIVERS=" + all, "GOVERBS_LIBIBVERBS=" + library}},
		{"by GOVERBS_LIBRARIES", "open: <nil>", []string{"RDMAV_DRIVERS=" + all, "GOVERBS_LIBRARIES=" + filepath.Dir(library)}},
		{"by IBV_DRIVERS", "open: <nil>", []string{"IBV_DRIVERS=" + all}},
		{"without providers", "libibverbs no provider for it", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			said, err := root.run(slices.Concat(env, []string{path}, tt.env), start, "/program")
			require.NoError(t, err, "%s", said)
			require.Contains(t, said, tt.says)
			require.Contains(t, said, "("+library+")", "which one was loaded")
		})
	}
}

const ibvSoname = "libibverbs.so.1"

var providerFile = regexp.MustCompile(`^(.*)-rdmav\d+\.so$`)

// needed is the files of libraries that this program has loaded once it has used a device, each by the name that it is
// looked for by: as ldd would list them, and the providers as well.
func needed(t *testing.T) (loader string, clibrary, verbs, providers []string) {
	t.Helper()
	r := newRig(t)
	require.NotNil(t, r.ctx)
	info, err := ibv.Library()
	require.NoError(t, err)
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	start, err := filepath.EvalSymlinks(interpreter(t))
	require.NoError(t, err)
	seen := map[string]bool{}
	for line := range strings.Lines(string(maps)) {
		at := strings.IndexByte(line, '/')
		if at < 0 {
			continue
		}
		file := strings.TrimSuffix(line[at:], "\n")
		name := filepath.Base(file)
		if seen[file] || !strings.Contains(name, ".so") {
			continue
		}
		seen[file] = true
		switch {
		case file == start, strings.HasPrefix(name, "ld-"): // musl's is the C library
			loader = file
		case providerFile.MatchString(name):
			providers = append(providers, file)
		case file == info.File, strings.HasPrefix(name, "libnl"):
			verbs = append(verbs, file)
		default:
			clibrary = append(clibrary, file)
		}
	}
	// Where musl looks for libraries.
	paths, err := filepath.Glob("/etc/" + strings.TrimSuffix(filepath.Base(interpreter(t)), ".so.1") + ".path")
	require.NoError(t, err)
	clibrary = append(clibrary, paths...)
	require.NotEmpty(t, loader)
	require.NotEmpty(t, verbs)
	require.NotEmpty(t, providers)
	return loader, clibrary, verbs, providers
}

// interpreter is the path at which this program looks for its dynamic linker.
func interpreter(t *testing.T) string {
	t.Helper()
	f, err := elf.Open("/proc/self/exe")
	require.NoError(t, err)
	defer f.Close()
	text, err := f.Section(".interp").Data()
	require.NoError(t, err)
	return strings.TrimRight(string(text), "\x00")
}

// folderFiles are the files in folders that are there.
func folderFiles(t *testing.T, folders []string) (files []string) {
	t.Helper()
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			require.ErrorIs(t, err, fs.ErrNotExist)
		}
		for _, e := range entries {
			files = append(files, filepath.Join(folder, e.Name()))
		}
	}
	return files
}

// bareRoot is a folder with nothing but this program, and the kernel's folders.
type bareRoot struct {
	t   *testing.T
	dir string
}

func newRoot(t *testing.T) bareRoot {
	t.Helper()
	r := bareRoot{t, t.TempDir()}
	for _, folder := range []string{"/proc", "/sys", "/dev"} {
		at := r.dir + folder
		require.NoError(t, os.Mkdir(at, 0o755))
		require.NoError(t, syscall.Mount(folder, at, "", syscall.MS_BIND|syscall.MS_REC, ""))
		t.Cleanup(func() { require.NoError(t, syscall.Unmount(at, syscall.MNT_DETACH)) })
	}
	require.NoError(t, os.Mkdir(r.dir+"/tmp", 0o777))
	r.copy("/proc/self/exe", "/program")
	return r
}

// copy has a file in the root, and by its soname as well, if it has one.
func (r bareRoot) copy(from, to string) {
	r.t.Helper()
	content, err := os.ReadFile(from)
	require.NoError(r.t, err)
	to = filepath.Join(r.dir, to)
	require.NoError(r.t, os.MkdirAll(filepath.Dir(to), 0o755))
	require.NoError(r.t, os.WriteFile(to, content, 0o755))
	f, err := elf.Open(to)
	if err != nil {
		return // no library
	}
	defer f.Close()
	sonames, _ := f.DynString(elf.DT_SONAME) // a program without a dynamic section has none
	for _, soname := range sonames {
		if link := filepath.Join(filepath.Dir(to), soname); link != to {
			require.NoError(r.t, os.Symlink(filepath.Base(to), link))
		}
	}
}

// run has the program say which library it finds, and whether it can open the device.
func (r bareRoot) run(env []string, argv ...string) (string, error) {
	cmd := exec.Command(argv[0], append(argv[1:], "-test.run=^TestTellLibrary$")...)
	cmd.Dir = "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: r.dir}
	cmd.Env = append(slices.Clone(env), elsewhere+"=1", "TMPDIR=/tmp")
	said, err := cmd.CombinedOutput()
	return string(said), err
}
