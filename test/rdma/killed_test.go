//go:build device && linux

package rdma

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
	"github.com/goverbs/goverbs/rdma"
)

const (
	talkDepth = 32
	// rapid is so short that a peer which is dead is noticed after 0.15 s, if anything is
	// sent to it.
	rapid = 16 * time.Millisecond
	// endless is more messages than there ever will be.
	endless = 1 << 62
)

// death is when a process kills itself, or is killed, by SIGKILL.
type death struct {
	Stage string
	After int
}

// deaths is where a process can die, with the last moment that a test uses.
var deaths = []death{
	{"is-there", 1},      // before it has a device
	{"has-written", 200}, // bytes of what it says in Connect
	{"has-read", 200},
	{"is-connected", 1}, // before the first message
	{"has-received", 5000},
	{"waits", 3000},       // us, parked in Wait
	{"is-killed", 300},    // ms after its start, by the other process
	{"is-killed", 20_000}, // us after the other is connected
}

const peerRole = "GOVERBS_TEST_PEER"

// Two processes exchange messages. One is killed at any point: the other one learns of
// it, can close all that it has and is left with nothing, and goes on with the next
// process.
func TestPeerIsKilled(t *testing.T) {
	if role := os.Getenv(peerRole); role != "" {
		doomed(t, role)
		return
	}
	const seed = 10
	random := rand.New(rand.NewPCG(seed, seed))
	r := newRig(t)
	base := kernelHas(t, deviceName)
	var goroutines, open int
	var longest time.Duration
	said := map[string]int{}
	rounds := max(effort(t, 48), len(deaths))
	for round := range rounds {
		d := deaths[round%len(deaths)]
		d.After = random.IntN(d.After)
		s := survivor{t: t, rig: r, death: d, tcp: random.IntN(2) == 0, watches: random.IntN(2) == 0}
		took := s.run(round)
		longest = max(longest, took)
		said[s.learned]++
		require.Equal(t, base, kernelHas(t, deviceName), "round %d: %+v", round, d)
		if round == 0 {
			goroutines, open, _ = process(t)
			continue
		}
		g, o, _ := process(t)
		require.LessOrEqual(t, g, goroutines, "round %d: %+v", round, d)
		require.LessOrEqual(t, o, open, "round %d: %+v", round, d)
	}
	t.Logf("%d processes were killed; it took %v at most until that was known, by: %v", rounds, longest, said)
}

// survivor is the process that lives.
type survivor struct {
	t       *testing.T
	rig     *rig
	death   death
	tcp     bool
	watches bool // the stream, and does not rely on what becomes of its sends
	learned string
}

// run has a peer start and die, and returns how long it took to learn of that.
func (s *survivor) run(round int) time.Duration {
	t := s.t
	conn, file := streams(t, s.tcp)
	defer conn.Close()
	cmd := emulated.Itself("-test.run=^TestPeerIsKilled$", "-test.v")
	cmd.Env = append(os.Environ(), peerRole+"="+fmt.Sprintf("%s %d", s.death.Stage, s.death.After))
	cmd.ExtraFiles = []*os.File{file}
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	require.NoError(t, cmd.Start())
	defer cmd.Process.Kill() // if the test fails
	require.NoError(t, file.Close())
	connected := make(chan struct{})
	died := make(chan time.Time, 1)
	go func() {
		if s.death.Stage == "is-killed" {
			unit := time.Millisecond
			if round%2 != 0 {
				unit = time.Microsecond
				<-connected
			}
			time.Sleep(time.Duration(s.death.After) * unit)
			_ = cmd.Process.Kill()
		}
		_ = cmd.Wait()
		died <- time.Now()
	}()
	talker, err := newTalker(s.rig.pd, nil, talkDepth)
	require.NoError(t, err)
	failure := soon(t, fmt.Sprintf("the exchange in which the peer %+v", s), func() error { return s.talk(talker, conn, connected) })
	end := time.Now()
	s.judge(failure)
	select {
	case <-connected:
	default:
		close(connected)
	}
	diedAt := soon(t, fmt.Sprintf("the peer (%+v, and the survivor got: %v)", s.death, failure), func() time.Time { return <-died })
	require.False(t, cmd.ProcessState.Success())
	require.Equal(t, syscall.SIGKILL, cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(), "%+v: %s", s.death, output.String())
	require.NoError(t, soon(t, "Close", func() error { return talker.close(true) }))
	return end.Sub(diedAt)
}

// talk connects, and exchanges messages until there is an error.
func (s *survivor) talk(talker *talker, conn net.Conn, connected chan struct{}) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	if err := talker.connect(ctx, conn, rdma.ConnectOptions{AckTimeout: rapid}); err != nil {
		return err
	}
	close(connected)
	if s.watches {
		go watchPeer(conn, cancel)
		return talker.talk(ctx, endless)
	}
	for {
		if err := talker.say(endless); err != nil {
			return err
		}
		patient, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		err := talker.wait(patient)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			err = talker.feel()
		}
		if err != nil {
			return err
		}
	}
}

// judge looks at what the survivor was told.
func (s *survivor) judge(err error) {
	t := s.t
	var failed *ibv.CompletionError
	var own *rdma.Error
	switch {
	case errors.As(err, &failed):
		s.learned = "a send that failed"
		require.Contains(t, []ibv.WCStatus{ibv.WCRetryExcErr, ibv.WCWRFlushErr}, failed.Status, "%+v: %v", s.death, err)
	case errors.Is(err, errPeerGone):
		s.learned = "the stream, while waiting"
		require.ErrorAs(t, err, &own)
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorContains(t, err, "wait on completion queue")
	case errors.Is(err, io.ErrUnexpectedEOF):
		s.learned = "the stream's end, in Connect"
		require.ErrorAs(t, err, &own)
		require.ErrorContains(t, err, "the peer has closed the connection")
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		s.learned = "the stream's failure, in Connect"
		require.ErrorAs(t, err, &own)
	default:
		require.FailNow(t, "not clear", "%+v: %v", s.death, err)
	}
	require.NotEmpty(t, s.learned)
}

// doomed is the process that dies.
func doomed(t *testing.T, role string) {
	var d death
	_, err := fmt.Sscanf(role, "%s %d", &d.Stage, &d.After)
	require.NoError(t, err)
	die := func() {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
	if d.Stage == "is-there" {
		die()
	}
	stream, err := netConn(os.NewFile(3, "stream"))
	require.NoError(t, err)
	defer stream.Close() // and the collector does not before
	conn := &fuse{Conn: stream, reads: -1, writes: -1, burn: die}
	switch d.Stage {
	case "has-written":
		conn.writes = d.After
	case "has-read":
		conn.reads = d.After
	}
	dev, err := rdma.Open(deviceName, rdma.DeviceOptions{})
	require.NoError(t, err)
	pd, err := dev.AllocPD()
	require.NoError(t, err)
	talker, err := newTalker(pd, nil, talkDepth)
	require.NoError(t, err)
	require.NoError(t, talker.connect(context.Background(), conn, rdma.ConnectOptions{AckTimeout: rapid}))
	switch d.Stage {
	case "is-connected", "has-written", "has-read":
		die()
	case "has-received":
		talker.onMessage = func() {
			if talker.received > uint64(d.After) {
				die()
			}
		}
	case "waits":
		time.AfterFunc(time.Duration(d.After)*time.Microsecond, die)
		_, err := talker.cq.Wait(context.Background(), talker.wcs[:0:0])
		require.Error(t, err)
		for {
			// What came stays where it is, and nothing more comes.
			_, _ = talker.cq.Wait(context.Background(), talker.wcs)
		}
	}
	t.Error(talker.talk(context.Background(), endless))
}
