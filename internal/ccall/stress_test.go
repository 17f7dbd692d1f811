//go:build linux

package ccall

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/emulated"
)

// Calls from many goroutines and threads, in a process where the collector runs all the time, the profiler interrupts a
// thousand times a second, the execution tracer runs, and signals arrive that preempt and that the program asked for.
// All at once, and a process of its own, because what goes wrong in one goroutine is often seen in another.
func TestUnderStress(t *testing.T) {
	symbol(t, "post_script")
	tests := []struct{ name, debug string }{
		// Memory the collector wrongly takes for free is overwritten, and each of its cycles is checked by another one.
		{"concurrent collector", "clobberfree=1,gccheckmark=1"},
		{"stopping collector", "clobberfree=1,gcstoptheworld=1"},
	}
	for _, value := range []string{"", "portable"} {
		for _, tt := range tests {
			t.Run(tt.name+", GOVERBS_CCALL="+value, func(t *testing.T) {
				stdout, stderr, code := another(t, "stress", "GODEBUG="+tt.debug, "GOVERBS_CCALL="+value)
				require.Zero(t, code, "%s%s", stdout, stderr)
				var calls, collections, signals, profile int
				n, err := fmt.Sscanf(stdout, "%d calls, %d collections, %d signals, %d bytes of profile", &calls, &collections, &signals, &profile)
				require.NoError(t, err, stdout)
				require.Equal(t, 4, n)
				require.Greater(t, calls, 100)
				require.Greater(t, collections, 2)
				require.Positive(t, signals)
				require.Positive(t, profile)
				if value == "" && Direct() && !emulated.Emulated() { // emulators time signals as they like
					require.Contains(t, stdout, "runtime._ExternalCode", "the profile must show the time spent in C")
				}
				t.Log(strings.TrimSpace(stdout))
			})
		}
	}
}

// stressTime is for how long a process is put under stress.
const stressTime = 1200 * time.Millisecond

func init() { roles["stress"] = playStress }

func playStress(string) error {
	library, err := build()
	if err != nil {
		return err
	}
	post, err := library.Symbol("post_script")
	if err != nil {
		return err
	}
	spin, err := library.Symbol("post_spin")
	if err != nil {
		return err
	}
	runtime.GOMAXPROCS(max(8, runtime.NumCPU())) // enough for what puts it under stress to be run now and then
	debug.SetGCPercent(1)
	runtime.SetCPUProfileRate(1000) // the next line's own 100 is then refused, with a complaint on stderr
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		return err
	}
	if err := trace.Start(io.Discard); err != nil {
		return err
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)

	var stop atomic.Bool
	var background, callers sync.WaitGroup
	var arrived atomic.Int64
	var threads sync.Map
	time.AfterFunc(stressTime, func() { stop.Store(true) })
	// A machine with other work, or an emulator, can be slow to send or to deliver the first signal.
	late := time.Now().Add(stressTime + 5*time.Second)
	goOn := func() bool { return !stop.Load() || arrived.Load() == 0 && time.Now().Before(late) }
	background.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	background.Go(func() {
		for goOn() {
			select {
			case <-signals:
				arrived.Add(1)
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	background.Go(func() {
		for goOn() {
			threads.Range(func(thread, _ any) bool {
				// The first is what the runtime preempts with: it has to tolerate strangers sending it.
				for _, s := range []syscall.Signal{syscall.SIGURG, syscall.SIGUSR1} {
					_ = syscall.Tgkill(os.Getpid(), thread.(int), s)
				}
				return true
			})
			time.Sleep(100 * time.Microsecond)
		}
	})

	const goroutines = 24
	failures := make(chan error, goroutines)
	var calls atomic.Int64
	for i := range goroutines {
		callers.Go(func() {
			if i%2 == 0 {
				runtime.LockOSThread() // its thread ends with it
				threads.Store(syscall.Gettid(), nil)
				defer threads.Delete(syscall.Gettid())
			}
			for n := int64(0); n < 5 || goOn(); n++ { // a few even where the time is over before they begin
				if err := stressedCall(post, n, i == 0); err != nil {
					failures <- fmt.Errorf("goroutine %d, call %d: %w", i, n, err)
					return
				}
				if err := stressedProgram(n); err != nil {
					failures <- fmt.Errorf("goroutine %d, program %d: %w", i, n, err)
					return
				}
				if n%256 == 0 {
					nanoseconds := int64(200_000)
					Post(spin, unsafe.Pointer(&nanoseconds), nil)
				}
				calls.Add(1)
			}
		})
	}
	callers.Wait()
	background.Wait()
	trace.Stop()
	pprof.StopCPUProfile()
	select {
	case err := <-failures:
		return err
	default:
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("%d calls, %d collections, %d signals, %d bytes of profile", calls.Load(), memory.NumGC, arrived.Load(), profile.Len())
	names, err := gzip.NewReader(&profile)
	if err != nil {
		return err
	}
	text, err := io.ReadAll(names)
	if err != nil {
		return err
	}
	if bytes.Contains(text, []byte("runtime._ExternalCode")) {
		fmt.Print(", runtime._ExternalCode in it")
	}
	fmt.Println()
	return nil
}

// shapes are the ways to post, made alike.
var shapes = []postFunc{
	func(fn uintptr, object, list unsafe.Pointer) (int32, int32, uintptr) { return Post(fn, object, list) },
	asPost(func(fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (unsafe.Pointer, error) {
		return PostFrom(fn, object, first, unless, refused)
	}),
	asPostOf(func(fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (int, error) {
		return PostList(fn, object, l, unless, refused)
	}),
	asPostOf(func(fn uintptr, object unsafe.Pointer, l *List, _ unsafe.Pointer, refused ListRefused) (int, error) {
		return BindList(fn, object, refused)(l, 0, 0)
	}),
	ofPair((*Pair).Make),
}

// stressedCall makes a call with memory that only the call knows of, collected garbage before it if so asked, and checks
// everything that comes back.
func stressedCall(fn uintptr, n int64, collect bool) error {
	list := &[3]int64{n, n + 1, n + 2}
	s := &script{result: -1, setErrno: n % 100, setBad: unsafe.Pointer(&list[2])}
	if collect {
		runtime.GC()
	}
	result, errno, bad := shapes[n%int64(len(shapes))](fn, unsafe.Pointer(s), unsafe.Pointer(list))
	if collect {
		runtime.GC()
	}
	if result != -1 || int64(errno) != n%100 || bad != uintptr(unsafe.Pointer(&list[2])) ||
		*list != [3]int64{n, n + 1, n + 2} || s.sawList != unsafe.Pointer(list) {
		return fmt.Errorf("result %d, errno %d, bad %#x in %p", result, errno, bad, list)
	}
	return nil
}

// stressedProgram plays a program and polls, likewise.
func stressedProgram(n int64) error {
	o, q := &object{result: -1, setErrno: n % 100}, &queue{nextFailsAt: 3, nextResult: int64(syscall.ENOENT), id: uint64(n % 3)}
	id := uint64(n)
	steps := []Step{
		{WRID: id, Op: mustFind("object_op"), OpArgs: [5]uintptr{1, 2, 3, 4, 5}, Plain: 0, Data: mustFind("object_data"), DataArgs: [3]uintptr{6, 7, 8}},
		{WRID: id + 1, Op: mustFind("object_atomic"), OpArgs: [5]uintptr{1, 2, 3}, Plain: 1, Data: mustFind("object_data"), DataArgs: [3]uintptr{6, 7, 8}},
	}
	result, errno := program(o).Play(steps)
	if result != -1 || int64(errno) != n%100 || o.n != 6 || o.seen[1].args[5] != 5 || o.seen[3].id != id+1 || o.seen[4].args[3] != 8 {
		return fmt.Errorf("result %d, errno %d, %+v", result, errno, o.seen[:6])
	}
	records, left := make([]record, 4), 3-int(n%3)
	got, result, _ := extendedPoll(q).Poll(unsafe.Pointer(&records[0]), len(records))
	if got != left || result != int32(syscall.ENOENT) || q.ends != 1 || records[got-1].filled[0] != 9 || records[got] != (record{}) {
		return fmt.Errorf("%d of %d completions, %+v, %+v", got, left, records, q)
	}
	return nil
}

// A signal that arrives while C runs is handled there and then, and changes nothing.
func TestSignalDuringTheCall(t *testing.T) {
	fn := symbol(t, "post_raise")
	asked := make(chan os.Signal, 1)
	signal.Notify(asked, syscall.SIGUSR2)
	defer signal.Stop(asked)
	bothWays(t, func(t *testing.T, w way) {
		for _, s := range []syscall.Signal{syscall.SIGURG, syscall.SIGPROF, syscall.SIGUSR2} {
			t.Run(s.String()+" "+strconv.Itoa(int(s)), func(t *testing.T) {
				onManyThreads(8, func(int) {
					list := new(int64)
					for range 50 {
						number := int64(s)
						result, _, bad := w.post(fn, unsafe.Pointer(&number), unsafe.Pointer(list))
						if result != 0 || bad != uintptr(unsafe.Pointer(list)) {
							t.Errorf("result %d, bad %#x instead of %p", result, bad, list)
						}
					}
				})
			})
		}
		select {
		case <-asked:
		case <-time.After(10 * time.Second):
			t.Error("SIGUSR2 was not delivered")
		}
	})
}
