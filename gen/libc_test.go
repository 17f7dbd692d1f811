package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The advice for a header of the C library that has no stub works: a header of that
// name in a folder of the user's.
func TestHeadersOfTheCLibrary(t *testing.T) {
	dir := include(t, "x.h", "#include <semaphore.h>\nstruct s { char a; sem_t b; };\n")
	args := []string{"assert", "-header", "x.h", "-target", machine(), "-I", dir}

	err := genFails(t, args...)
	require.ErrorContains(t, err, "semaphore.h, which x.h needs, was not found in "+dir)
	const advice = "write your own semaphore.h that declares what x.h takes from it, which may be nothing, and name its folder with -I"
	require.ErrorContains(t, err, "name its folder with -I; if it is the C library's, "+advice)

	// The C library's own is not for the generator.
	err = genFails(t, append(args, "-I", "/usr/include")...)
	require.ErrorContains(t, err, "semaphore.h is the C library's own, made for its compiler, and the generator has no stub for it; "+advice+", before /usr/include")

	own := include(t, "semaphore.h", "typedef union { char __size[32]; long __align; } sem_t;\n")
	text := gen(t, append(args, "-I", own, "-I", "/usr/include")...)
	require.Contains(t, text, "offsetof(struct s, b)")
	file := filepath.Join(t.TempDir(), "assert.c")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	out, err := cc(t, file, "-I", dir) // with the C library's
	require.NoError(t, err, out)

	// Where nothing is taken from it, it may be empty.
	headers := include(t, "y.h", "#include <netdb.h>\nstruct s { char a; };\n")
	args = []string{"generate", "-header", "y.h", "-I", headers, "-o", t.TempDir()}
	err = genFails(t, append(args, "-I", "/usr/include")...)
	require.ErrorContains(t, err, "write your own netdb.h that declares what y.h takes from it", "not one that the C library's header includes")
	gen(t, append(args, "-I", include(t, "netdb.h", ""), "-I", "/usr/include")...)
}

// What libfabric, gdrcopy and UCX include of the C library has stubs.
func TestStubsOfTheCLibrary(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"sys/uio.h", "stdarg.h", "sys/ioctl.h", "math.h", "sched.h", "sys/time.h", "sys/un.h", "dlfcn.h", "net/if.h"} {
		text.WriteString("#include <" + name + ">\n")
	}
	text.WriteString(`
struct s { struct iovec v[2]; cpu_set_t cpus; struct timeval t; mode_t m; off_t o; };
#define COMMAND _IOWR('x', 3, struct s)
void print(const char *, va_list);
`)
	dir := t.TempDir()
	gen(t, "generate", "-header", "x.h", "-I", include(t, "x.h", text.String()), "-o", dir)
	goFolder(t, dir, "linux/amd64", "linux/arm64")
	assert.Contains(t, files(t, dir)["zz_generated.go"], "type Iovec struct")
}

// Types that are the C library's own have C's names, and its functions' pointers to
// them go where a header's functions take them.
func TestTypesOfTheCLibrary(t *testing.T) {
	module := newModule(t)
	dir := include(t, "x.h", "#include <stdio.h>\n#include <dirent.h>\nint x_print(FILE *to, DIR **from);\nstruct x { FILE *log; };\nFILE *x_open(void);\n")
	gen(t, "generate", "-header", "x.h", "-library", "libx.so.1", "-I", dir, "-o", filepath.Join(module, "x"))
	text := ""
	for _, file := range files(t, filepath.Join(module, "x")) {
		text += file
	}
	for _, want := range []string{
		"// FILE is C's FILE, of which the C library alone knows", "\ntype FILE struct {", "\ntype DIR struct {",
		"func XPrint(to *FILE, from **DIR) (int32, error) {", "int x_print(FILE *to, DIR **from).", "func XOpen() (*FILE, error) {", "\tLog *FILE // FILE *log\n",
	} {
		assert.Contains(t, text, want)
	}
	assert.NotRegexp(t, `(?i)stub|_IO_FILE|dirstream`, text)
	goCommand(t, module, "linux/amd64", "vet", "./...")
	goCommand(t, module, "freebsd/amd64", "vet", "./...")
}
