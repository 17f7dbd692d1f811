package ccall

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// play is what another process started by a test does instead of testing.
func play(role string) {
	switch role {
	case "direct":
		fmt.Println(Direct())
	case "fault":
		playFault()
	}
}

func playFault() {
	defer func() { fmt.Println("recovered", recover()) }()
	library, err := build()
	if err != nil {
		fmt.Println(err)
		return
	}
	fn, err := library.Symbol("post_fault")
	if err != nil {
		fmt.Println(err)
		return
	}
	Post(fn, nil, pointer(16))
}

// another runs this program again in a role, and returns its output and its exit code.
func another(t *testing.T, role string, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), "CCALL_TEST_ROLE="+role), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return out.String(), errOut.String(), cmd.ProcessState.ExitCode()
}

func TestEnvironmentVariable(t *testing.T) {
	byDefault, _, _ := another(t, "direct", "GOVERBS_CCALL=")
	tests := []struct{ value, want string }{
		{"portable", "false\n"},
		{"Portable", byDefault},
		{"direct", byDefault},
		{"0", byDefault},
	}
	for _, tt := range tests {
		t.Run(tt.value, func(t *testing.T) {
			got, _, _ := another(t, "direct", "GOVERBS_CCALL="+tt.value)
			require.Equal(t, tt.want, got)
		})
	}
}

// A fault in C ends the process, and the runtime's report names the Go function that called.
func TestFaultEndsTheProcess(t *testing.T) {
	symbol(t, "post_fault")
	for _, value := range []string{"", "portable"} {
		t.Run("GOVERBS_CCALL="+value, func(t *testing.T) {
			stdout, stderr, code := another(t, "fault", "GOVERBS_CCALL="+value)
			require.Empty(t, stdout)
			require.Equal(t, 2, code, stderr)
			require.Contains(t, stderr, "SIGSEGV")
			require.Contains(t, stderr, "ccall.playFault")
		})
	}
}
