package ccall

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// Goroutines that want one lock of C's do not wait for each other for ever, whatever the collector and the scheduler do
// meanwhile: nobody comes back to Go with it. Played call by call, this hangs within milliseconds.
func TestLocksOfC(t *testing.T) {
	symbol(t, "object_start")
	for _, value := range []string{"", "portable"} {
		t.Run("GOVERBS_CCALL="+value, func(t *testing.T) {
			stdout, stderr, code := another(t, "locks", "GOVERBS_CCALL="+value)
			require.Zero(t, code, "%s%s", stdout, stderr)
			var batches, completions, collections int
			_, err := fmt.Sscanf(stdout, "%d batches, %d completions, %d collections", &batches, &completions, &collections)
			require.NoError(t, err, stdout)
			require.Greater(t, batches, 10)
			require.Greater(t, completions, 10)
			require.Greater(t, collections, 2)
			t.Log(stdout)
		})
	}
}

func init() { roles["locks"] = playLocks }

func playLocks(string) error {
	if _, err := build(); err != nil {
		return err
	}
	runtime.GOMAXPROCS(max(4, runtime.NumCPU()))
	debug.SetGCPercent(1)
	var stop atomic.Bool
	var group sync.WaitGroup
	var batches, completions atomic.Int64
	var failure atomic.Pointer[error]
	time.AfterFunc(time.Second, func() { stop.Store(true) })
	group.Go(func() {
		for n := 0; n < 3 || !stop.Load(); n++ {
			runtime.GC()
		}
	})
	// What all of them want. C counts under its lock what calls it saw, and how far the queue is.
	o, q := &object{setErrno: untouched}, &queue{nextFailsAt: math.MaxInt64}
	op, data := mustFind("object_op"), mustFind("object_data")
	for i := range 16 {
		group.Go(func() {
			steps := make([]Step, 8)
			for k := range steps {
				steps[k] = Step{WRID: uint64(k), Op: op, Plain: uint32(k % 2), Data: data}
			}
			p, poll := program(o), extendedPoll(q)
			for n := 0; n < 3 || !stop.Load(); n++ {
				records := make([]record, 1+n%20)
				if result, errno := p.Play(steps); result != 0 {
					err := fmt.Errorf("result %d, errno %d", result, errno)
					failure.Store(&err)
					return
				}
				batches.Add(1)
				if i%3 == 0 {
					runtime.Gosched()
				}
				got, result, _ := poll.Poll(unsafe.Pointer(&records[0]), len(records))
				completions.Add(int64(got))
				for k, r := range records {
					if got != len(records) || result != 0 || r.id != records[0].id+uint64(k) || r.wide != r.id<<40|r.id {
						err := fmt.Errorf("%d completions of %d: number %d is %+v, the first one is %d", got, len(records), k, r, records[0].id)
						failure.Store(&err)
						return
					}
				}
			}
		})
	}
	group.Wait()
	if err := failure.Load(); err != nil {
		return *err
	}
	if o.n != batches.Load()*18 || int64(q.id) != completions.Load() || q.starts != q.ends {
		return fmt.Errorf("%d calls in %d batches, %d completions of %d, %d starts and %d ends", o.n, batches.Load(), q.id, completions.Load(), q.starts, q.ends)
	}
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	fmt.Printf("%d batches, %d completions, %d collections\n", batches.Load(), completions.Load(), memory.NumGC)
	return nil
}
