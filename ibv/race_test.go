//go:build race

package ibv_test

import (
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// The race detector sees into posts and polls: what one goroutine at a time may do
// is reported when two do it, and what the device has ordered is not.
func TestRacesAreSeen(t *testing.T) {
	const role = "IBV_TEST_RACE"
	p := newProvider(t, wholeContext)
	recv, send := recvChain(t, 4, 0), sendChain(t, 4, 0)
	wcs := make([]ibv.WC, 4)
	e := newExtended(t)
	batch := newBatch(t, e.qp(0, ibv.QPTRC, everything, false, nil), everything, 2, 1)
	for i := range 2 {
		require.NoError(t, batch.Send(i, 1, 0))
		require.NoError(t, batch.SetSGEs(i, ibv.SGE{}))
	}
	extendedPoll := newExtendedPoll(t, e.cq(0, allFlags, false), allFields)
	extendedWCs := make([]ibv.ExtendedWC, 4)
	both := func(one, other func()) func() {
		return func() {
			var group sync.WaitGroup
			group.Go(one)
			group.Go(other)
			group.Wait()
		}
	}
	races := map[string]func(){
		"two post a chain":             both(func() { _, _ = recv.Post(p.qp) }, func() { _, _ = recv.Post(p.qp) }),
		"two post a chain of sends":    both(func() { _, _ = send.Post(p.qp) }, func() { _, _ = send.Post(p.qp) }),
		"a chain is set while posted":  both(func() { _, _ = recv.Post(p.qp) }, func() { _ = recv.Set(1, 2) }),
		"an entry is set while posted": both(func() { _, _ = send.PostRange(p.qp, 0, 3) }, func() { _ = send.SetSGE(1, 2, ibv.WRSend, 0, ibv.SGE{}) }),
		"two post a batch":             both(func() { _, _ = batch.Post() }, func() { _, _ = batch.Post() }),
		"a batch is set while posted":  both(func() { _, _ = batch.Post() }, func() { _ = batch.SetWRID(1, 2) }),
		"a list is set while posted":   both(func() { _, _ = batch.PostRange(0, 2) }, func() { _ = batch.SetSGEs(1, ibv.SGE{Addr: 1}) }),
		"two read into one slice":      both(func() { _, _ = extendedPoll.Poll(extendedWCs) }, func() { _, _ = extendedPoll.Poll(extendedWCs) }),
		"two poll into one slice":      both(func() { _, _ = p.cq.Poll(wcs) }, func() { _, _ = p.cq.Poll(wcs) }),
	}
	if name := os.Getenv(role); name != "" {
		p.play(script{room: all, completions: 4})
		e.play(extendedScript{loop: true})
		e.call("extended_give", 0, 8, 0, 0)
		races[name]()
		return
	}
	for name := range races {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestRacesAreSeen$")
			cmd.Env = append(os.Environ(), role+"="+name, "GORACE=halt_on_error=1 exitcode=66")
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, "%s", out)
			require.Equal(t, 66, exit.ExitCode(), "%s", out)
			require.Contains(t, string(out), "DATA RACE")
		})
	}
	t.Run("a buffer goes from one goroutine through the device to another", func(t *testing.T) {
		// A pipe that the race detector does not see into stands for the wire.
		var wire [2]int
		require.NoError(t, syscall.Pipe2(wire[:], syscall.O_NONBLOCK|syscall.O_CLOEXEC))
		byteOnWire, byteOff := new(byte), new(byte)
		move := func(call uintptr, end int, b *byte) bool {
			n, _, _ := syscall.RawSyscall(call, uintptr(end), uintptr(unsafe.Pointer(b)), 1)
			return n == 1
		}
		p.play(script{room: all, completions: 1})
		buffer := []byte{0}
		go func() {
			buffer[0] = 1
			_, _ = recv.Post(p.qp)
			move(syscall.SYS_WRITE, wire[1], byteOnWire)
		}()
		for !move(syscall.SYS_READ, wire[0], byteOff) {
			runtime.Gosched()
		}
		n, err := p.cq.Poll(wcs)
		require.NoError(t, err)
		require.Equal(t, 1, n)
		buffer[0]++
		require.EqualValues(t, 2, buffer[0])
		require.NoError(t, syscall.Close(wire[0]))
		require.NoError(t, syscall.Close(wire[1]))
	})
}
