//go:build linux && !android

package dl

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/emulated"
)

func TestFits(t *testing.T) {
	for _, tt := range []struct{ builtFor, runsOn, want string }{
		{"", glibc, ""},
		{"", musl, ""},
		{glibc, glibc, ""},
		{musl, musl, ""},
		{glibc, musl, "with musl than with glibc: build the program with -tags musl"},
		{musl, glibc, "with glibc than with musl: build the program without -tags musl"},
	} {
		err := fits(tt.builtFor, tt.runsOn)
		if tt.want == "" {
			require.NoError(t, err, tt)
			continue
		}
		require.ErrorIs(t, err, errOtherLibc)
		require.ErrorContains(t, err, tt.want)
		require.ErrorContains(t, err, runtime.GOARCH)
	}
}

// Where it matters, as it does on arm64, no library is loaded for a program that is built for another C library than it
// runs on. test/cross runs this with and without the build tag.
func TestLoadFits(t *testing.T) {
	runsOn := cLibrary()
	// Any library will do, and the C library itself is there already.
	t.Setenv(overrideVariable, map[string]string{glibc: "libc.so.6", musl: "libc.so"}[runsOn])
	l := loader{soname: Libibverbs}
	library, err := l.load()
	if builtFor == "" || builtFor == runsOn {
		require.NoError(t, err)
		return
	}
	require.Nil(t, library)
	require.ErrorIs(t, err, errOtherLibc)
	require.ErrorContains(t, err, "-tags musl")
}

// onMusl tells TestCLibrary that it is in the other process.
const onMusl = "GOVERBS_TEST_ON_MUSL"

// What the process finds out is what the headers of its C compiler say, and in a process on musl it finds musl.
func TestCLibrary(t *testing.T) {
	if os.Getenv(onMusl) != "" {
		require.Equal(t, musl, cLibrary())
		return
	}
	compiler := os.Getenv("CC")
	if compiler == "" {
		compiler = "cc"
	}
	require.Equal(t, libcOf(t, compiler), cLibrary())
	if cLibrary() == musl || emulated.Emulated() {
		return // nothing more to see, or no musl-gcc for that processor
	}
	require.Equal(t, musl, libcOf(t, "musl-gcc"))
	loaders, err := filepath.Glob("/lib/ld-musl-*.so.1")
	require.NoError(t, err)
	require.Len(t, loaders, 1, "test/deps installs it")
	loader := loaders[0]
	// Each way to have a program on musl, as package dl's documentation tells them.
	for name, tt := range map[string]struct {
		env   []string
		flags []string
		by    []string // what it is started by
	}{
		"with cgo":                 {[]string{"CGO_ENABLED=1", "CC=musl-gcc"}, []string{"-tags", "netgo,osusergo"}, nil},
		"plain":                    {[]string{"CGO_ENABLED=0"}, []string{"-ldflags", "-I " + loader}, nil},
		"plain, started by musl's": {[]string{"CGO_ENABLED=0"}, nil, []string{loader}},
	} {
		t.Run(name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "dl.test")
			build := exec.Command("go", append(append([]string{"test", "-c", "-vet=off"}, tt.flags...), "-o", binary, ".")...)
			build.Env = append(os.Environ(), tt.env...)
			out, err := build.CombinedOutput()
			require.NoError(t, err, "%s", out)
			argv := append(tt.by, binary, "-test.v", "-test.run", "^(TestCLibrary|TestLoadFits)$")
			again := exec.Command(argv[0], argv[1:]...)
			again.Env = append(os.Environ(), onMusl+"=1")
			out, err = again.CombinedOutput()
			require.NoError(t, err, "%s", out)
			for _, test := range []string{"TestCLibrary", "TestLoadFits"} {
				require.Contains(t, string(out), "--- PASS: "+test)
			}
		})
	}
}

// libcOf asks a C compiler for its C library. Only glibc's headers name it.
func libcOf(t *testing.T, compiler string) string {
	t.Helper()
	_, err := exec.LookPath(compiler)
	require.NoError(t, err, "test/deps installs it")
	probe := filepath.Join(t.TempDir(), "probe.c")
	require.NoError(t, os.WriteFile(probe, []byte("#include <limits.h>\n#ifdef __GLIBC__\n#error glibc\n#endif\n"), 0o600))
	out, err := exec.Command(compiler, "-fsyntax-only", probe).CombinedOutput()
	if err == nil {
		return musl
	}
	require.Contains(t, string(out), "#error glibc")
	return glibc
}
