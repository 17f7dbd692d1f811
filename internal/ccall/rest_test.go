package ccall

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A goroutine that does nothing but make calls gives way to the collector and to other goroutines, whichever call it is and
// however it ends. Without asynchronous preemption, the only places to do so are those that the calls leave: without
// them, the process would hang. The runtime's own functions are the measure of how long it takes: a loop of calls is no
// harder to stop than a loop in Go.
func TestLoopsGiveWay(t *testing.T) {
	symbol(t, "post_script")
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	for _, value := range []string{"", "portable"} {
		for _, preempt := range []string{"asyncpreemptoff=1", "asyncpreemptoff=0"} {
			t.Run(preempt+", GOVERBS_CCALL="+value, func(t *testing.T) {
				stdout, stderr, code := another(t, fmt.Sprint("loops ", rounds), "GODEBUG="+preempt, "GOVERBS_CCALL="+value)
				require.Zero(t, code, "%s%s", stdout, stderr)
				t.Log(stdout) // which nothing is judged by: other work on the machine makes either kind late
			})
		}
	}
}

func init() { roles["loops"] = playLoops }

// loop is a call made for ever, in a loop into which the compiler can inline it.
type loop struct {
	name string
	run  func(stop *atomic.Bool)
}

func loops() []loop {
	post, poll := mustFind("post_script"), mustFind("poll_script")
	list := unsafe.Pointer(new([4]int64))
	room := unsafe.Pointer(new([4 * CompletionSize]byte))
	l, none := &List{First: list, Len: 4}, &List{First: list}
	good, bad := &script{setErrno: untouched, setBad: keep}, &script{result: -1, setErrno: int64(syscall.ENOMEM), setBad: list}
	ok, full := unsafe.Pointer(good), unsafe.Pointer(bad)
	from := func(unsafe.Pointer, int32, int32, uintptr) (unsafe.Pointer, error) { rest(); return nil, errRefused }
	some := func(*List, int32, int32, uintptr) (int, error) { rest(); return 0, errRefused }
	failed := func(unsafe.Pointer, int32, int32, int32) (int, error) { rest(); return 0, errRefused }
	bound, boundFull := BindList(post, ok, some), BindList(post, full, some)
	boundPoll, boundPollFull := BindPoll(poll, ok, failed), BindPoll(poll, full, failed)
	pair := &Pair{PostFn: post, Object: ok, List: list, PollFn: poll, CQ: ok, Into: room, Room: 4}
	six := mustFind("call_six")
	nothing, endless := &queue{startResult: int64(syscall.ENOENT)}, &queue{nextFailsAt: -1}
	steps := []Step{{Op: mustFind("object_op"), Plain: 1, Data: mustFind("object_data")}, {Address: mustFind("object_address")}}
	played, unplayed := program(&object{setErrno: untouched}), new(Program)
	polled, empty, unpolled := extendedPoll(endless), extendedPoll(nothing), new(ExtendedPoll)
	records := unsafe.Pointer(new([4]record))
	return []loop{
		{"post", func(stop *atomic.Bool) {
			for !stop.Load() {
				Post(post, ok, list)
			}
		}},
		{"post, refused", func(stop *atomic.Bool) {
			for !stop.Load() {
				Post(post, full, list)
			}
		}},
		{"post from", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostFrom(post, ok, list, nil, from)
			}
		}},
		{"post from, refused", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostFrom(post, full, list, nil, from)
			}
		}},
		{"post from, nothing", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostFrom(post, ok, nil, nil, from)
			}
		}},
		{"post from, not asked", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostFrom(post, ok, list, ok, from)
			}
		}},
		{"post list", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostList(post, ok, l, nil, some)
			}
		}},
		{"post list, refused", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostList(post, full, l, nil, some)
			}
		}},
		{"post list, nothing", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostList(post, ok, none, nil, some)
			}
		}},
		{"post list, not asked", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = PostList(post, ok, l, ok, some)
			}
		}},
		{"bound list", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = bound(l, 0, 0)
			}
		}},
		{"bound list, refused", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = boundFull(l, 0, 0)
			}
		}},
		{"bound list, nothing", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = bound(none, 0, 0)
			}
		}},
		{"bound poll", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = boundPoll(room, 4, 0)
			}
		}},
		{"bound poll, failed", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = boundPollFull(room, 4, 0)
			}
		}},
		{"bound poll, no room", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = boundPoll(nil, 0, 0)
			}
		}},
		{"poll", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = Poll(poll, ok, room, 4, failed)
			}
		}},
		{"poll, failed", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = Poll(poll, full, room, 4, failed)
			}
		}},
		{"poll, no room", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = Poll(poll, ok, nil, 0, failed)
			}
		}},
		{"post and poll", func(stop *atomic.Bool) {
			for !stop.Load() {
				pair.Make()
			}
		}},
		{"play", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = played.Play(steps)
			}
		}},
		{"play, not asked", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = unplayed.Play(steps)
			}
		}},
		{"extended poll", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _, _ = polled.Poll(records, 4)
			}
		}},
		{"extended poll, empty", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _, _ = empty.Poll(records, 4)
			}
		}},
		{"extended poll, no room", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _, _ = polled.Poll(records, 0)
			}
		}},
		{"extended poll, not asked", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _, _ = unpolled.Poll(records, 4)
			}
		}},
		{"call", func(stop *atomic.Bool) {
			for !stop.Load() {
				_, _ = Call(six, 1, 2, 3, 4, 5, 6)
			}
		}},
	}
}

// inGo is the loop that the others are compared with. The called function begins by looking at the guard.
var inGo = loop{"Go", func(stop *atomic.Bool) {
	for !stop.Load() {
		yield()
	}
}}

func playLoops(argument string) error {
	if _, err := build(); err != nil {
		return err
	}
	rounds, err := strconv.Atoi(argument)
	if err != nil {
		return err
	}
	for _, l := range loops() {
		// Both in turns, and of each what went quickest, because the machine may have other things to do for a while.
		var without, with []time.Duration
		for range rounds {
			without = append(without, stops(inGo)...)
			with = append(with, stops(l)...)
		}
		takeTurns(l)
		fmt.Printf("%s: %.2f times as long to stop\n", l.name, float64(slices.Min(with))/float64(slices.Min(without)))
	}
	return nil
}

// stops runs a loop on a processor of its own, and returns how long it took each time to stop the world.
func stops(l loop) (took []time.Duration) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(max(2, runtime.NumCPU())))
	defer inBackground(l)()
	time.Sleep(time.Millisecond)
	for range 10 {
		start := time.Now()
		runtime.ReadMemStats(new(runtime.MemStats)) // stops the world, and hardly does anything then
		took = append(took, time.Since(start))
		time.Sleep(50 * time.Microsecond)
	}
	return took
}

// takeTurns has a loop share one processor. Each turn ends because the runtime asks the loop to give way.
func takeTurns(l loop) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer inBackground(l)()
	for range 2 {
		runtime.Gosched()
	}
}

// inBackground starts a loop, and returns what ends it.
func inBackground(l loop) (end func()) {
	var stop atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.run(&stop)
	}()
	return func() {
		stop.Store(true)
		<-done
	}
}
