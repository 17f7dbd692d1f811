//go:build device && linux

package rdma

import (
	"os"
	"runtime"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/internal/emulated"
)

// child runs the calling test in a process of its own that lacks some of root's
// capabilities. There it is true, and the test goes on; in this process nothing is
// left to do. prepare is called before the process starts, on the thread that starts
// it, whose limits and namespaces it has.
func child(t *testing.T, prepare func(), without ...uintptr) bool {
	t.Helper()
	const role = "GOVERBS_TEST_CHILD"
	if os.Getenv(role) == t.Name() {
		return true
	}
	cmd := emulated.Itself("-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), role+"="+t.Name())
	var said []byte
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its goroutine
		for _, capability := range without {
			if err := unix.Prctl(unix.PR_CAPBSET_DROP, capability, 0, 0, 0); err != nil {
				failed <- err
				return
			}
		}
		prepare()
		var err error
		said, err = cmd.CombinedOutput()
		failed <- err
	}()
	require.NoError(t, <-failed, "%s", said)
	require.Contains(t, string(said), "--- PASS: "+t.Name())
	return false
}

// limitLocked has new processes of this one lock so many bytes of memory at most.
func limitLocked(t *testing.T, bytes uint64) {
	var before syscall.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_MEMLOCK, (*unix.Rlimit)(&before)))
	t.Cleanup(func() { require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, (*unix.Rlimit)(&before))) })
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_MEMLOCK, &unix.Rlimit{Cur: bytes, Max: before.Max}))
}
