package platform

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The compiler is stopped exactly where there are no generated types.
func TestConstraint(t *testing.T) {
	assert.Equal(t, "!("+constraint(t, "../../zz_generated.go")+")", constraint(t, "unsupported.go"))
}

// constraint is the build constraint of a Go file.
func constraint(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "//go:build ")
	require.True(t, found, "%s has no build constraint", path)
	line, _, _ := strings.Cut(rest, "\n")
	return line
}
