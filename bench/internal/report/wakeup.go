package report

import (
	"fmt"
	"io"

	"github.com/goverbs/goverbs/bench/internal/subject"
)

// wakings are the operations that wait, in order.
var wakings = []struct{ op, title string }{
	{subject.WakeUp, "two ends wake each other"},
	{subject.WakeUpIdle, "a completion comes when all is quiet"},
}

// wakeUpMore is what a wake-up may take more than C's, in nanoseconds.
const wakeUpMore = 10e3

var wakeUpNote = fmt.Sprintf(""+
	"What `cq.Wait` of package rdma takes beside a thread in C that waits in `ibv_get_cq_event`. Two ends wake each other by empty\n"+
	"messages, on two threads or goroutines of the same process: a wake-up is a message from one to the other, with its posts. Or\n"+
	"one waits, and a thread that stands for a device has a completion come every now and then: a wake-up is the time from there\n"+
	"until it is taken. On the stub an event is a write to a pipe, which `ibv_get_cq_event` reads. Wanted are %s more than C at most.\n"+
	"Under User Mode Linux a system call takes tens of microseconds, and a look at the clock is one.\n\n", duration(wakeUpMore))

// writeWakeUps writes what it takes to wake who waits, if that was measured.
func (s *Samples) writeWakeUps(w io.Writer, device string) {
	begun := false
	for _, t := range wakings {
		c, rdma := key{device, t.op, subject.C, "wr", 1}, key{device, t.op, subject.RDMA, "wr", 1}
		inC, ok := s.median(c)
		inGo, too := s.median(rdma)
		if !ok || !too {
			continue
		}
		if !begun {
			fmt.Fprintf(w, "\n### Waking up\n\n%s| what | processes | %s | %s | more | 8 in 10 are between | |\n|---|---|---|---|---|---|---|\n", wakeUpNote, subject.C, subject.RDMA)
			begun = true
		}
		all := s.comparisons(rdma, c, more)
		much, _ := median(all)
		low, high := most(all)
		verdict := "**missed**"
		if much <= wakeUpMore {
			verdict = "met"
		}
		fmt.Fprintf(w, "| %s | %d | %s | %s | %.2f µs | %.2f and %.2f µs | %s |\n", t.title, len(all), duration(inC), duration(inGo), much/1e3, low/1e3, high/1e3, verdict)
	}
}
