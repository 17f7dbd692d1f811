package ccall

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/emulated"
)

// roles are what another process started by a test does instead of testing.
var roles = map[string]func(argument string) error{
	"direct": func(string) error {
		_, err := fmt.Println(Direct())
		return err
	},
	"fault": playFault,
}

func play(role string) {
	role, argument, _ := strings.Cut(role, " ")
	if err := roles[role](argument); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// playFault calls a function that faults, with everything in place that could survive that, and must not.
func playFault(function string) error {
	library, err := build()
	if err != nil {
		return err
	}
	function, how, _ := strings.Cut(function, " ")
	fn, err := library.Symbol(function)
	if err != nil {
		return err
	}
	debug.SetPanicOnFault(true)
	var lock sync.Mutex
	lock.Lock()
	defer lock.Unlock()
	defer func() { fmt.Println("recovered", recover()) }()
	switch how { // list is 16, at which there is nothing
	case "play":
		program(new(object)).Play([]Step{{Op: fn, OpArgs: [5]uintptr{16}}})
	case "poll":
		p, into := extendedPoll(&queue{nextFailsAt: 1}), unsafe.Pointer(new(record))
		p.Fill, p.FillAt = fn, 16-uintptr(into)
		p.Poll(into, 1)
	case "call":
		Call(fn, 0, 16, 0, 0, 0, 0)
	case "bound":
		_, _ = BindList(fn, nil, nil)(&List{First: pointer(16), Len: 1}, 0, 0)
	default:
		Post(fn, nil, pointer(16))
	}
	return nil
}

// another runs this program again in a role, and returns its output and its exit code.
func another(t *testing.T, role string, env ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := emulated.Itself()
	cmd.Env = append(append(os.Environ(), "CCALL_TEST_ROLE="+role), env...)
	if object, err := compile(); err == nil { // what went wrong is for those to say who need it
		cmd.Env = append(cmd.Env, objectVariable+"="+object)
	}
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

// A fault in C ends the process, and the runtime's report names who made the call, and who called that.
func TestFaultEndsTheProcess(t *testing.T) {
	tests := []struct{ function, signal string }{
		{"post_fault", "SIGSEGV"},
		{"post_abort", "SIGABRT"},
	}
	for _, tt := range tests {
		symbol(t, tt.function)
		for i, value := range []string{"", "portable", "", "", "", ""} {
			how := []string{"", "", " play", " poll", " call", " bound"}[i]
			t.Run(tt.signal+", GOVERBS_CCALL="+value+how, func(t *testing.T) {
				stdout, stderr, code := another(t, "fault "+tt.function+how, "GOVERBS_CCALL="+value)
				require.Empty(t, stdout, "nothing deferred may run")
				require.Equal(t, 2, code, stderr)
				require.Contains(t, stderr, tt.signal)
				require.Contains(t, stderr, "ccall.playFault(")
				require.Contains(t, stderr, "ccall.play(", "who called that")
			})
		}
	}
}

// A fault in Go is a panic again once C has returned: signal handlers find the goroutine, where they found the system's.
func TestFaultInGoAfterTheCall(t *testing.T) {
	post, poll := symbol(t, "post_script"), symbol(t, "poll_script")
	bothWays(t, func(t *testing.T, w way) {
		s := &script{setErrno: untouched, setBad: keep}
		var nowhere *int64
		require.Panics(t, func() {
			w.post(post, unsafe.Pointer(s), unsafe.Pointer(s))
			*nowhere = 1
		})
		require.Panics(t, func() {
			w.poll(poll, unsafe.Pointer(s), 1, unsafe.Pointer(new([CompletionSize]byte)))
			*nowhere = 1
		})
	})
}
