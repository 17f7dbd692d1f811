package subject

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/native"
	"github.com/goverbs/goverbs/bench/internal/ticks"
	"github.com/goverbs/goverbs/ibv"
)

// idleWakeUps is how many wake-ups there are in a round.
const idleWakeUps = 40

// wakeUpIdle has a thread or a goroutine wait for completions of the stub's, which
// come when all has been quiet for a while. A call takes as long as it is from when the
// completion comes to when it is taken: the median of the round.
func wakeUpIdle(d device.Device) ([]*Subject, error) {
	inC, err := d.Wakers(false)
	if err != nil || inC.Stub == nil {
		return nil, err
	}
	inGo, err := d.Wakers(true)
	if err != nil {
		return nil, err
	}
	latencies := make([]int64, idleWakeUps)
	// waked is the calls of whoever waits for one.
	waked := func(of *device.Wakers, wait func(stamp *int64, into []int64) int) calls {
		return func(n int) (int, int64) {
			if err := of.Stub.Begin(n); err != nil {
				return 0, 0
			}
			good := wait(of.Stub.Stamp(), latencies[:n])
			if good < n {
				return good, 0
			}
			of.Stub.Finish()
			slices.Sort(latencies[:n])
			return n, latencies[n/2] * int64(n)
		}
	}
	c := nativeWaker(&inC.Ends[0])
	wcs, cq := make([]ibv.WC, 1), inGo.Ends[0].Handle
	return share(Subject{Op: WakeUpIdle, WRs: 1, Calls: idleWakeUps, warm: idleWakeUps / 8}, []variant{
		{C, waked(inC, func(stamp *int64, into []int64) int { return native.WaitIdle(c, stamp, into) })},
		{RDMA, waked(inGo, func(stamp *int64, into []int64) int {
			for i := range into {
				if _, err := cq.Wait(context.Background(), wcs); err != nil {
					return i
				}
				into[i] = ticks.Now() - atomic.LoadInt64(stamp)
			}
			return len(into)
		})},
	}), nil
}
