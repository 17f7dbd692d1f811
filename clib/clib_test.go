//go:build linux && !android

package clib_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/internal/ccall"
	"github.com/goverbs/goverbs/internal/emulated"
)

// compile runs the C compiler in a folder.
func compile(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	cmd := exec.Command(cc, args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// library compiles a library from C, in a folder where libraries are looked for.
func library(t *testing.T, soname, source string, args ...string) (lib *clib.Library, dir string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "lib.c"), []byte(source), 0o600))
	out, err := compile(t, dir, append([]string{"-O2", "-shared", "-fPIC", "-Wl,-soname," + soname, "-o", soname, "lib.c"}, args...)...)
	require.NoError(t, err, out)
	t.Setenv("GOVERBS_LIBRARIES", dir)
	return &clib.Library{Soname: soname}, dir
}

const versioned = `
int new_answer(void) { return 2; }
int old_answer(void) { return 1; }
int only_old(void) { return 3; }
__asm__(".symver old_answer, answer@V1");
__asm__(".symver new_answer, answer@@V2");
__asm__(".symver only_old, gone@V1");
`

// A symbol with several versions is the one that C's linker takes for a program;
// one that only old programs may have is none.
func TestVersions(t *testing.T) {
	const soname = "libgoverbsversioned.so.1"
	versions := filepath.Join(t.TempDir(), "versions")
	require.NoError(t, os.WriteFile(versions, []byte("V1 { global: answer; gone; local: *; };\nV2 { global: answer; } V1;\n"), 0o600))
	lib, dir := library(t, soname, versioned, "-Wl,--version-script="+versions)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.c"), []byte("int answer(void); int main(void) { return answer(); }"), 0o600))
	out, err := compile(t, dir, "-o", "main", "main.c", "-L.", "-l:"+soname, "-Wl,-rpath,"+dir)
	require.NoError(t, err, out)
	program := emulated.Command("./main")
	program.Dir = dir
	var exit *exec.ExitError
	require.ErrorAs(t, program.Run(), &exit)
	answer := clib.Function{Library: lib, Name: "answer"}
	value, err := answer.Value()
	require.NoError(t, err)
	assert.EqualValues(t, exit.ExitCode(), value, "C's program calls another version")
	assert.EqualValues(t, 2, value)

	require.NoError(t, os.WriteFile(filepath.Join(dir, "gone.c"), []byte("int gone(void); int main(void) { return gone(); }"), 0o600))
	_, err = compile(t, dir, "-o", "gone", "gone.c", "-L.", "-l:"+soname)
	require.Error(t, err, "C's linker takes it")
	gone := clib.Function{Library: lib, Name: "gone"}
	_, err = gone.Value()
	require.ErrorIs(t, err, clib.ErrNoFunction)
}

// What a library lacks is an error that names it, the library, and the release
// that has it, whatever the function's convention is, and every time.
func TestMissingFunction(t *testing.T) {
	lib, dir := library(t, "libgoverbsempty.so.1", "int there(void) { return 0; }")
	f := &clib.Function{Library: lib, Name: "ibv_new_verb", Since: "99.0"}
	_, null := f.Null()
	_, minus := f.Minus(4)
	_, count := f.Count(4)
	_, value := f.Value()
	_, text := f.Text()
	for _, err := range []error{null, minus, count, value, text, f.Errno(), f.Void()} {
		require.ErrorIs(t, err, clib.ErrNoFunction)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.NotErrorIs(t, err, clib.ErrNoLibrary)
		require.EqualError(t, err, "no such symbol: ibv_new_verb in "+filepath.Join(dir, lib.Soname)+", which is older than rdma-core 99.0")
	}
	var missing *clib.MissingError
	require.ErrorAs(t, null, &missing)
	require.Equal(t, "99.0", missing.Since)
	unknown := clib.Function{Library: lib, Name: "no_verb"}
	require.EqualError(t, unknown.Void(), "no such symbol: no_verb in "+filepath.Join(dir, lib.Soname))
	there := clib.Function{Library: lib, Name: "there"}
	require.NoError(t, there.Errno())
}

// A missing library is an error of each of its functions, until it is installed.
func TestMissingLibrary(t *testing.T) {
	const soname = "libgoverbslate.so.1"
	late := &clib.Library{Soname: soname}
	f := clib.Function{Library: late, Name: "late"}
	for range 2 {
		require.ErrorIs(t, late.Load(), clib.ErrNoLibrary)
		err := f.Errno()
		require.ErrorIs(t, err, clib.ErrNoLibrary)
		require.NotErrorIs(t, err, clib.ErrNoFunction)
		require.ErrorContains(t, err, soname)
		require.ErrorContains(t, err, "GOVERBS_LIBRARIES")
	}
	library(t, soname, "int late(void) { return 0; }")
	require.NoError(t, f.Errno())
	require.NoError(t, late.Load())
}

// A failure without a reason in errno says so; a number that means something by itself,
// as those of getaddrinfo do, is in the error.
func TestFailuresWithoutErrno(t *testing.T) {
	lib, _ := library(t, "libgoverbsreasons.so.1", "#include <errno.h>\n#include <stddef.h>\nint fails(int n, int reason) { errno = reason; return n; }\nvoid *null(int reason) { errno = reason; return NULL; }")
	fails := clib.Function{Library: lib, Name: "fails"}
	null := clib.Function{Library: lib, Name: "null"}
	minus := func(n int, reason syscall.Errno) error {
		got, err := fails.Minus(4, uintptr(n), uintptr(reason))
		require.Equal(t, n, got)
		return err
	}
	count := func(n int, reason syscall.Errno) error {
		_, err := fails.Count(4, uintptr(n), uintptr(reason))
		return err
	}
	_, none := null.Null(0)
	_, memory := null.Null(uintptr(syscall.ENOMEM))
	for _, tt := range []struct {
		err    error
		result int
		errno  syscall.Errno
		is     syscall.Errno
		text   string
	}{
		{minus(-8, 0), -8, 0, syscall.EIO, "fails: -8: it failed and left no reason in errno"},
		{minus(-2, syscall.ENOENT), -2, syscall.ENOENT, syscall.ENOENT, "fails: -2: no such file or directory"},
		{minus(-1, 0), 0, 0, syscall.EIO, "fails: it failed and left no reason in errno"},
		{minus(-1, syscall.ENOMEM), 0, syscall.ENOMEM, syscall.ENOMEM, "fails: cannot allocate memory"},
		{count(-13, 0), 0, syscall.EACCES, syscall.EACCES, "fails: permission denied"},
		{count(-1, 0), 0, 0, syscall.EIO, "fails: it failed and left no reason in errno"},
		{fails.Errno(^uintptr(0), 0), 0, 0, syscall.EIO, "fails: it failed and left no reason in errno"},
		{none, 0, 0, syscall.EIO, "null: it failed and left no reason in errno"},
		{memory, 0, syscall.ENOMEM, syscall.ENOMEM, "null: cannot allocate memory"},
	} {
		var failure *clib.Error
		require.ErrorAs(t, tt.err, &failure)
		assert.Equal(t, tt.result, failure.Result, tt.text)
		assert.Equal(t, tt.errno, failure.Errno, tt.text)
		assert.EqualError(t, tt.err, tt.text)
		assert.ErrorIs(t, tt.err, tt.is)
	}
}

// Functions are looked up by however many goroutines at once, and later calls do not
// ask the library, whose lock they would have to take.
func TestLookupConcurrently(t *testing.T) {
	lib, _ := library(t, "libgoverbsmany.so.1", "int sum(int a, int b) { return a + b; }")
	sum := clib.Function{Library: lib, Name: "sum"}
	none := clib.Function{Library: lib, Name: "none"}
	addresses := make([]uintptr, 32)
	var group sync.WaitGroup
	for i := range addresses {
		group.Go(func() {
			addresses[i], _ = sum.Address()
			if got, err := sum.Minus(4, uintptr(i), 1); err != nil || got != i+1 {
				t.Errorf("%d + 1 is %d, %v", i, got, err)
			}
			if err := none.Void(); !errors.Is(err, clib.ErrNoFunction) {
				t.Errorf("a missing function: %v", err)
			}
		})
	}
	group.Wait()
	for _, address := range addresses {
		require.NotZero(t, address)
		require.Equal(t, addresses[0], address)
	}
	sum.Library = nil
	got, err := sum.Minus(4, 1, 1)
	require.NoError(t, err)
	require.Equal(t, 2, got)
}

// Memory of the caller's, also on its stack, is where C finds it and stays there.
func TestMemory(t *testing.T) {
	lib, _ := library(t, "libgoverbsmemory.so.1", "void twice(int *n) { *n *= 2; }\nconst char *same(const char *s) { return s; }\nint length(const char *s) { int n = 0; while (s[n]) n++; return n; }")
	twice := clib.Function{Library: lib, Name: "twice"}
	same := clib.Function{Library: lib, Name: "same"}
	length := clib.Function{Library: lib, Name: "length"}
	n := int32(21)
	require.NoError(t, twice.Void(uintptr(unsafe.Pointer(&n))))
	require.EqualValues(t, 42, n)
	for _, want := range []string{"", "a", "a longer text"} {
		s, err := clib.String(want)
		require.NoError(t, err)
		got, err := same.Text(uintptr(unsafe.Pointer(s)))
		require.NoError(t, err)
		require.Equal(t, want, got)
		counted, err := length.Count(4, uintptr(unsafe.Pointer(s)))
		require.NoError(t, err)
		require.Equal(t, len(want), counted)
	}
	_, err := clib.String("a\x00b")
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorContains(t, err, "byte 1")
	text, err := same.Text(0)
	require.NoError(t, err)
	require.Empty(t, text)
}

// A pointer to no function is not called.
func TestNoPointer(t *testing.T) {
	p := clib.Pointer{Name: "verbs_context.alloc_td"}
	_, null := p.Null()
	_, minus := p.Minus(8)
	_, count := p.Count(8)
	_, value := p.Value()
	_, text := p.Text()
	for _, err := range []error{null, minus, count, value, text, p.Errno(), p.Void()} {
		require.ErrorIs(t, err, syscall.EOPNOTSUPP)
		require.ErrorIs(t, err, errors.ErrUnsupported)
		require.ErrorContains(t, err, "verbs_context.alloc_td: ")
	}
}

// A direct call is the same call, and allocates nothing.
func TestDirect(t *testing.T) {
	lib, _ := library(t, "libgoverbsdirect.so.1", "#include <errno.h>\nlong sum(long a, long b, long c, long d, long e, long f) { return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f; }\nint fails(void) { errno = ENOMEM; return -1; }")
	sum := clib.Function{Library: lib, Name: "sum"}
	got, err := sum.Direct(1, 2, 3, 4, 5, 6).Value()
	require.NoError(t, err)
	require.EqualValues(t, 91, got)
	fails := clib.Function{Library: lib, Name: "fails"}
	require.ErrorIs(t, fails.Direct(0, 0, 0, 0, 0, 0).Errno(), syscall.ENOMEM)
	_, err = fails.Direct(0, 0, 0, 0, 0, 0).Minus(4)
	require.ErrorIs(t, err, syscall.ENOMEM)
	_, err = fails.Direct(0, 0, 0, 0, 0, 0).Count(4)
	require.ErrorIs(t, err, syscall.ENOMEM)
	none := clib.Function{Library: lib, Name: "none"}
	require.ErrorIs(t, none.Direct(0, 0, 0, 0, 0, 0).Void(), clib.ErrNoFunction)
	require.ErrorIs(t, clib.Pointer{}.Direct(0, 0, 0, 0, 0, 0).Void(), syscall.EOPNOTSUPP)
	if ccall.Direct() && !ccall.RaceDetector {
		require.Zero(t, testing.AllocsPerRun(100, func() { _, _ = sum.Direct(1, 2, 3, 4, 5, 6).Value() }))
	}
}

// What a direct call saves.
func BenchmarkCall(b *testing.B) {
	lib := &clib.Library{Soname: "libc.so.6"}
	abs := clib.Function{Library: lib, Name: "abs"}
	for name, call := range map[string]func() (int, error){
		"usual":  func() (int, error) { return abs.Count(4, 7) },
		"direct": func() (int, error) { return abs.Direct(7, 0, 0, 0, 0, 0).Count(4) },
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if n, err := call(); n != 7 || err != nil {
					b.Fatal(n, err)
				}
			}
		})
	}
}
