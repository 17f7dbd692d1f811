package report

import (
	"fmt"
	"io"

	"github.com/goverbs/goverbs/bench/internal/subject"
)

// traffics are the operations end to end, in order.
var traffics = []struct{ op, title string }{
	{subject.PingPongRC, "ping-pong, RC"},
	{subject.PingPongUD, "ping-pong, UD"},
	{subject.MessageRateRC, "message rate, RC"},
	{subject.MessageRateUD, "message rate, UD"},
}

const trafficNote = "" +
	"Two queue pairs of the device, connected to each other, in one thread that posts and polls for both. The loops in C and in\n" +
	"Go are built alike. A ping-pong is a message that is answered with another, each received before the next is sent; of 16\n" +
	"sends, one is signalled. The message rate has up to 64 messages under way: they are posted by 16, of which the last is\n" +
	"signalled, and receives are posted again by 16. The columns are a loop in C; the same with queue pairs of its own, whose\n" +
	"distance from 1 is what the measuring itself cannot tell; chains that are built once, on the queue pairs and with the work\n" +
	"requests of the first; and a `SendRing` with a `RecvRing`, on queue pairs of their own. Each completion is checked in the loop, in C\n" +
	"too, and each message's contents after it. Nanoseconds for a ping-pong and for a message, the median of all rounds; then how many times\n" +
	"the round in C of the same turn: the median of all pairs of rounds, and in brackets between what 8 in 10 of them are.\n\n"

// writeTraffic writes what messages take from one end to the other, if that was
// measured.
func (s *Samples) writeTraffic(w io.Writer, device string) {
	columns := []string{subject.CAgain, subject.Goverbs, subject.GoverbsRing}
	begun := false
	for _, t := range traffics {
		dimension, sizes := s.numbers(device, t.op)
		for _, size := range sizes {
			base := key{device, t.op, subject.C, dimension, size}
			ns, ok := s.median(base)
			if !ok {
				continue
			}
			if !begun {
				fmt.Fprintf(w, "\n### Messages end to end\n\n%s| what | %s | pairs | %s, ns |", trafficNote, dimension, subject.C)
				for _, impl := range columns {
					fmt.Fprintf(w, " %s |", impl)
				}
				fmt.Fprint(w, "\n|---|---|---|---|---|---|---|\n")
				begun = true
			}
			fmt.Fprintf(w, "| %s | %d | %d | %.5g |", t.title, size, len(s.ns[base]), ns)
			for _, impl := range columns {
				ratios := s.comparisons(key{device, t.op, impl, dimension, size}, base, times)
				if ratio, ok := median(ratios); ok {
					low, high := most(ratios)
					fmt.Fprintf(w, " %.3f (%.3f to %.3f) |", ratio, low, high)
				} else {
					fmt.Fprint(w, " |")
				}
			}
			fmt.Fprintln(w)
		}
	}
}
