package ticks

import "time"

// Length measures how many nanoseconds a tick is.
func Length() float64 {
	const long = 50 * time.Millisecond
	start, ticks := time.Now(), Now()
	time.Sleep(long)
	elapsed := time.Since(start)
	return float64(elapsed.Nanoseconds()) / float64(Now()-ticks)
}
