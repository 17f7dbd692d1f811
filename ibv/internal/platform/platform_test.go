package platform

import (
	"go/build"
	"go/types"
	"os/exec"
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
