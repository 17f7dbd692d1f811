package ibv_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The program in the README is what newcomers copy: it must compile.
func TestReadmeProgramCompiles(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var program strings.Builder
	inside := false
	for line := range strings.Lines(string(readme)) {
		code, indented := strings.CutPrefix(line, "    ")
		switch {
		case code == "package receive\n":
			inside = true
		case !indented && strings.TrimSpace(line) != "":
			inside = false
		}
		if inside {
			program.WriteString(code)
		}
	}
	require.Contains(t, program.String(), "chain.Post(qp)")
	file := filepath.Join(t.TempDir(), "receive.go")
	require.NoError(t, os.WriteFile(file, []byte(program.String()), 0o600))
	out, err := exec.Command("go", "vet", file).CombinedOutput()
	require.NoError(t, err, "%s\n%s", out, program.String())
}
