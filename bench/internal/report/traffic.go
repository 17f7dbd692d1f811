package report

import (
	"fmt"
	"io"

	"github.com/goverbs/goverbs/bench/internal/measure"
	"github.com/goverbs/goverbs/bench/internal/subject"
)

// traffics are the operations end to end, in order.
var traffics = []struct{ op, title string }{
	{subject.PingPongRC, "ping-pong, RC"},
	{subject.PingPongUD, "ping-pong, UD"},
	{subject.MessageRateRC, "message rate, RC"},
	{subject.MessageRateUD, "message rate, UD"},
}

var trafficNote = fmt.Sprintf(""+
	"Two queue pairs of the device, connected to each other, in one thread that posts and polls for both. The loops in C and in\n"+
	"Go are built alike. A ping-pong is a message that is answered with another, each received before the next is sent; of 16\n"+
	"sends, one is signalled. The message rate has up to 64 messages under way: they are posted by 16, of which the last is\n"+
	"signalled, and receives are posted again by 16. Each completion is checked in the loop, in C too, and each message's\n"+
	"contents after it.\n\n"+
	"The columns are a loop in C; the same with queue pairs of its own, whose distance from 1 is what the measuring cannot tell;\n"+
	"chains that are built once, on the queue pairs and with the work requests of the first; and a `SendRing` with a `RecvRing`\n"+
	"that hands out `Received`, on queue pairs of their own. A pair is the medians of %d short rounds each, made in turn. C is in\n"+
	"nanoseconds for a ping-pong and for a message; the others are times C, the median of all pairs, and in brackets\n"+
	"between what 8 in 10 of the pairs are.\n\n", measure.PairRounds)

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
