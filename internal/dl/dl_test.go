//go:build linux && !android

package dl

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	first, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	t.Setenv(overrideVariable, "/nowhere/libibverbs.so.1")
	second, err := Load()
	require.NoError(t, err, "a loaded library must be remembered")
	require.Same(t, first, second)
}

func TestSymbol(t *testing.T) {
	library, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	for _, name := range []string{"ibv_get_device_list", "ibv_open_device", "ibv_create_cq", "ibv_wc_status_str"} {
		address, err := library.Symbol(name)
		require.NoError(t, err)
		require.NotZero(t, address)
		again, err := library.Symbol(name)
		require.NoError(t, err)
		require.Equal(t, address, again)
	}
	address, err := library.Symbol("ibv_post_recv") // an inline in C, no symbol in any release
	require.ErrorIs(t, err, ErrNoSymbol)
	require.ErrorContains(t, err, "ibv_post_recv")
	require.ErrorContains(t, err, library.Name())
	require.Zero(t, address)
}

func TestSymbolConcurrently(t *testing.T) {
	library, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	addresses := make([]uintptr, 16)
	var group sync.WaitGroup
	for i := range addresses {
		group.Go(func() { addresses[i], _ = library.Symbol("ibv_close_device") })
	}
	group.Wait()
	for _, address := range addresses {
		require.NotZero(t, address)
		require.Equal(t, addresses[0], address)
	}
}

// The symbol really is the function it is named after.
func TestCallLibibverbs(t *testing.T) {
	library, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	fn, err := library.Symbol("ibv_wc_status_str")
	require.NoError(t, err)
	text, _ := Call(fn, 0)
	require.NotZero(t, text)
	// Safe: the string is a constant of the library's, which is never unloaded.
	require.Equal(t, "success", string(unsafe.Slice(*(**byte)(unsafe.Pointer(&text)), len("success"))))
}

func TestLoadFailure(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "libibverbs.so.1")
	require.NoError(t, os.WriteFile(damaged, []byte("not a library"), 0o600))
	tests := []struct{ name, path string }{
		{"no such file", "/nowhere/libibverbs.so.1"},
		{"not a library", damaged},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Setenv(overrideVariable, tt.path)
			l := loader{soname: Libibverbs}
			library, err := l.load()
			require.Nil(t, library)
			require.ErrorIs(t, err, ErrNoLibrary)
			require.ErrorContains(t, err, tt.path)
			require.ErrorContains(t, err, overrideVariable)
			require.ErrorContains(t, err, "libibverbs1 ibverbs-providers")
			require.Regexp(t, "dlopen: (Error loading shared library )?"+regexp.QuoteMeta(tt.path)+": ", err, "what glibc's or musl's dynamic linker said")

			t.Setenv(overrideVariable, "")
			library, err = l.load()
			require.NoError(t, err, "a failure must not be remembered")
			require.Equal(t, Libibverbs, library.Name())
		})
	}
}

func TestMissingNamesEverySystem(t *testing.T) {
	for _, variable := range []string{"", overrideVariable} {
		text := choice{Libibverbs, Libibverbs, variable}.missing(os.ErrNotExist).Error()
		for _, system := range []string{"Alpine", "Arch", "CentOS Stream", "Debian", "Fedora", "FreeBSD", "NixOS", "openSUSE", "Ubuntu"} {
			require.Contains(t, text, system)
		}
		require.Contains(t, text, Libibverbs)
		require.Contains(t, text, overrideVariable)
	}
	unsupported := choice{soname: Libibverbs}.missing(fmt.Errorf("%w here", errors.ErrUnsupported))
	require.ErrorIs(t, unsupported, ErrNoLibrary)
	require.NotContains(t, unsupported.Error(), "Debian", "no package helps there")
}

func libc(t *testing.T, name string) uintptr {
	t.Helper()
	library, err := Load()
	require.NoError(t, err, "these tests need libibverbs")
	address, err := library.Symbol(name) // libibverbs needs libc, so its symbols are found too
	require.NoError(t, err)
	return address
}

func TestCallReportsErrno(t *testing.T) {
	open, getpid := libc(t, "open"), libc(t, "getpid")
	missing, err := syscall.BytePtrFromString("/nowhere/at/all")
	require.NoError(t, err)
	directory, err := syscall.BytePtrFromString("/")
	require.NoError(t, err)
	var group sync.WaitGroup
	for range 16 { // so that calls are interleaved on the threads there are
		group.Go(func() {
			for range 100 {
				result, errno := Call(open, uintptr(unsafe.Pointer(missing)), syscall.O_RDONLY)
				if int32(result) != -1 || errno != syscall.ENOENT {
					t.Errorf("Call: open of a missing file: %d, %v", int32(result), errno)
				}
				word, errno := CallInt(open, uintptr(unsafe.Pointer(directory)), syscall.O_WRONLY)
				if word != -1 || errno != syscall.EISDIR {
					t.Errorf("CallInt: open of a directory for writing: %d, %v", word, errno)
				}
				result, errno = Call(getpid)
				if int(result) != os.Getpid() || errno != 0 {
					t.Errorf("Call: getpid: %d, %v: errno must not be left from before", result, errno)
				}
				word, errno = CallInt(getpid)
				if int(word) != os.Getpid() || errno != 0 {
					t.Errorf("CallInt: getpid: %d, %v", word, errno)
				}
			}
		})
	}
	group.Wait()
}

// Any library is loaded by its soname, from the folders of the variable first, and what cannot be loaded says how to get it.
func TestLoadNamed(t *testing.T) {
	first, err := LoadNamed("libm.so.6")
	require.NoError(t, err)
	second, err := LoadNamed("libm.so.6")
	require.NoError(t, err)
	require.Same(t, first, second)
	verbs, err := LoadNamed(Libibverbs)
	require.NoError(t, err)
	loaded, err := Load()
	require.NoError(t, err)
	require.Same(t, loaded, verbs)

	folder := t.TempDir()
	damaged := filepath.Join(folder, "librdmacm.so.99")
	require.NoError(t, os.WriteFile(damaged, []byte("not a library"), 0o600))
	for _, tt := range []struct {
		soname, folders string
		says            []string
	}{
		{"librdmacm.so.98", "", []string{"load librdmacm.so.98: dlopen: ", "apt install librdmacm1", foldersVariable}},
		{"librdmacm.so.99", folder, []string{"load " + damaged + ": dlopen: ", "the name is from " + foldersVariable}},
		{"librdmacm.so.98", "/nowhere" + string(os.PathListSeparator) + folder, []string{"load librdmacm.so.98: "}},
		{"libnone.so.1", "", []string{"a package that is not known here", foldersVariable}},
	} {
		t.Setenv(foldersVariable, tt.folders)
		library, err := LoadNamed(tt.soname)
		require.Nil(t, library)
		require.ErrorIs(t, err, ErrNoLibrary)
		for _, text := range tt.says {
			require.ErrorContains(t, err, text)
		}
	}
}

// A folder's library takes the place of the system's, and a path in GOVERBS_LIBIBVERBS that of both.
func TestChoose(t *testing.T) {
	folder := t.TempDir()
	there := filepath.Join(folder, Libibverbs)
	require.NoError(t, os.WriteFile(there, nil, 0o600))
	t.Setenv(overrideVariable, "")
	t.Setenv(foldersVariable, "")
	require.Equal(t, choice{Libibverbs, Libibverbs, ""}, choose(Libibverbs))
	t.Setenv(foldersVariable, string(os.PathListSeparator)+folder)
	require.Equal(t, choice{Libibverbs, there, foldersVariable}, choose(Libibverbs))
	t.Chdir(folder)
	t.Setenv(foldersVariable, ".")
	require.Equal(t, "./"+Libibverbs, choose(Libibverbs).name, "a name alone is looked for where the system's libraries are")
	require.Equal(t, choice{"librdmacm.so.1", "librdmacm.so.1", ""}, choose("librdmacm.so.1"))
	t.Setenv(overrideVariable, "/other/library")
	require.Equal(t, choice{Libibverbs, "/other/library", overrideVariable}, choose(Libibverbs))
	require.Equal(t, choice{"librdmacm.so.1", "librdmacm.so.1", ""}, choose("librdmacm.so.1"))
}
