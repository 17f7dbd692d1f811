//go:build race

package ibv_test

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
)

// both is two goroutines at once.
func both(one, other func()) func() {
	return func() {
		var group sync.WaitGroup
		group.Go(one)
		group.Go(other)
		group.Wait()
	}
}

// requireSeen requires of the calling test that the race detector reports each of
// the races, which prepare makes ready, in a process of its own.
func requireSeen(t *testing.T, prepare func(), races map[string]func()) {
	t.Helper()
	const role = "IBV_TEST_RACE"
	if name := os.Getenv(role); name != "" {
		prepare()
		races[name]()
		t.SkipNow() // nothing else is to happen here
	}
	for name := range races {
		t.Run(name, func(t *testing.T) {
			cmd := emulated.Itself("-test.run=^" + strings.Split(t.Name(), "/")[0] + "$")
			cmd.Env = append(os.Environ(), role+"="+name, "GORACE=halt_on_error=1 exitcode=66")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s", out)
			require.Equal(t, 66, exit.ExitCode(), "%s", out)
			require.Contains(t, string(out), "DATA RACE")
		})
	}
}

// The race detector sees into posts and polls: what one goroutine at a time may do
// is reported when two do it, and what the device has ordered is not.
func TestRacesAreSeen(t *testing.T) {
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 4, 0), sendChain(t, 4, 0)
	wcs := make([]ibv.WC, 4)
	bound, boundSend, poller := p.QP.RecvPoster(), p.QP.SendPoster(), p.CQ.Poller()
	races := map[string]func(){
		"two post a chain":                        both(func() { _, _ = recv.Post(p.QP) }, func() { _, _ = recv.Post(p.QP) }),
		"two post a chain of sends":               both(func() { _, _ = send.Post(p.QP) }, func() { _, _ = send.Post(p.QP) }),
		"a chain is set while posted":             both(func() { _, _ = recv.Post(p.QP) }, func() { _ = recv.Set(1, 2) }),
		"an entry is set while posted":            both(func() { _, _ = send.PostRange(p.QP, 0, 3) }, func() { _ = send.SetSGE(1, 2, ibv.WRSend, 0, ibv.SGE{}) }),
		"two post a chain by a poster":            both(func() { _, _ = bound.Post(recv) }, func() { _, _ = bound.Post(recv) }),
		"a chain is set while a poster posts it":  both(func() { _, _ = bound.Post(recv) }, func() { _ = recv.SetSGE(1, 2, ibv.SGE{}) }),
		"sends are set while a poster posts them": both(func() { _, _ = boundSend.Post(send) }, func() { _ = send.SetSGE(1, 2, ibv.WRSend, 0, ibv.SGE{}) }),
		"two poll into one slice by a poller":     both(func() { _, _ = poller.Poll(wcs) }, func() { _, _ = poller.Poll(wcs) }),
		"two poll into one slice":                 both(func() { _, _ = p.CQ.Poll(wcs) }, func() { _, _ = p.CQ.Poll(wcs) }),
	}
	requireSeen(t, func() { p.Play(script{Room: all, Completions: 4}) }, races)
	t.Run("a buffer goes from one goroutine through the device to another", func(t *testing.T) {
		// A pipe that the race detector does not see into stands for the wire.
		var wire [2]int
		require.NoError(t, syscall.Pipe2(wire[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC))
		byteOnWire, byteOff := new(byte), new(byte)
		move := func(call uintptr, end int, b *byte) bool {
			n, _, _ := syscall.RawSyscall(call, uintptr(end), uintptr(unsafe.Pointer(b)), 1)
			return n == 1
		}
		p.Play(script{Room: all, Completions: 1})
		buffer := []byte{0}
		go func() {
			buffer[0] = 1
			_, _ = recv.Post(p.QP)
			move(syscall.SYS_WRITE, wire[1], byteOnWire)
		}()
		for !move(syscall.SYS_READ, wire[0], byteOff) {
			runtime.Gosched()
		}
		n, err := p.CQ.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		buffer[0]++
		require.EqualValues(t, 2, buffer[0])
		require.NoError(t, syscall.Close(wire[0]))
		require.NoError(t, syscall.Close(wire[1]))
	})
}
