package platform

import (
	"go/build"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Of all that Go compiles for, the compiler is stopped where a word has not 64
// bits, and on Plan 9, whose errors are not numbers.
func TestConstraint(t *testing.T) {
	ports, err := exec.Command("go", "tool", "dist", "list").Output()
	require.NoError(t, err)
	for port := range strings.FieldsSeq(string(ports)) {
		context := build.Default
		context.GOOS, context.GOARCH, _ = strings.Cut(port, "/")
		stopped, err := context.MatchFile(".", "unsupported.go")
		require.NoError(t, err)
		word := types.SizesFor("gc", context.GOARCH).Sizeof(types.Typ[types.Uintptr])
		assert.Equal(t, word != 8 || context.GOOS == "plan9", stopped, port)
	}
}

const program = `package main

import (
	"errors"
	"fmt"

	"github.com/goverbs/goverbs/ibv"
)

func main() {
	_, err := ibv.Open("")
	_, deviceErr := ibv.Devices()
	_, chainErr := ibv.NewSendChain(4, 1)
	fmt.Println(errors.Is(err, ibv.ErrNoLibrary), errors.Is(deviceErr, ibv.ErrNoLibrary), chainErr)
	fmt.Println(err)
}
`

// A program that could use RDMA compiles for a processor that no library is loaded
// on, and learns that there is none.
func TestProgramsCompileElsewhere(t *testing.T) {
	main := filepath.Join(t.TempDir(), "main.go")
	require.NoError(t, os.WriteFile(main, []byte(program), 0o600))
	binary := filepath.Join(t.TempDir(), "program")
	build := exec.Command("go", "build", "-o", binary, main)
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=mips64le", "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	out, err = exec.Command("qemu-mips64el", binary).CombinedOutput()
	require.NoError(t, err, "this test needs an emulator; on Debian: apt install qemu-user\n%s", out)
	require.Equal(t, "true true <nil>\nibv: list RDMA devices: there is no such library to load: load libibverbs.so.1: unsupported operation: "+
		"this program for linux/mips64le loads no C libraries\n", string(out))
}
