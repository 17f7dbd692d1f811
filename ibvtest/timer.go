//go:build !freebsd

package ibvtest

import "time"

// timer is something that the fabric does later.
type timer struct {
	t  *time.Timer
	in bubble
}

// after has something done later, with the lock held, as it is now. It is not if the timer is stopped before, or the
// fabric closed.
func (f *Fabric) after(d time.Duration, do func()) *timer {
	t := &timer{in: bubbleHere()}
	f.timers[t] = struct{}{}
	t.t = time.AfterFunc(d, func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		if _, runs := f.timers[t]; runs {
			delete(f.timers, t)
			do()
		}
	})
	return t
}

// stop stops a timer, which may be nil.
func (f *Fabric) stop(t *timer) {
	if t == nil {
		return
	}
	delete(f.timers, t) // which is enough
	if t.in.open() {
		t.t.Stop()
	}
}

// stopTimers stops all.
func (f *Fabric) stopTimers() {
	for t := range f.timers {
		f.stop(t)
	}
}

// ackTimeout is how long a requester waits for an answer, by the number in its attributes (IBTA 9.7.6.1.3). 0 is for ever.
func ackTimeout(number uint8) time.Duration { return 4096 * time.Nanosecond << (number & 31) }

// rnrTimeouts are how long a requester waits for a receive, by the number that the responder has (IBTA 9.7.5.2.8), in
// units of 10 us.
var rnrTimeouts = [32]time.Duration{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
	8192, 12288, 16384, 24576, 32768, 49152,
}

// rnrTimeout is one of them.
func rnrTimeout(number uint8) time.Duration { return rnrTimeouts[number&31] * 10 * time.Microsecond }
