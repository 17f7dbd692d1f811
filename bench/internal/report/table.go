package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/goverbs/goverbs/bench/internal/measure"
	"github.com/goverbs/goverbs/bench/internal/subject"
)

// implementations is the columns, in order.
var implementations = []string{
	measure.Fill, subject.C, subject.Goverbs, subject.RDMA, subject.GoverbsWC, subject.GoverbsList, subject.Cgo, subject.CgoTyped, subject.CgoMarshal,
	subject.Purego, subject.Fallback,
}

// legend says what the columns are.
const legend = "" +
	"| column | what makes the call |\n|---|---|\n" +
	"| c | a loop in C |\n" +
	"| goverbs | `chain.Post(qp)`, `cq.Poll(wcs)`; `batch.Post()` and `poll.Poll(wcs)` of extended queues |\n" +
	"| rdma | `qp.PostRecv(chain)`, `cq.Poll(wcs)`, `qp.PostBatch(batch)`, `cq.PollExtended(wcs)` of package rdma's handles; on the stub, which has none, the call that the compiler makes of them |\n" +
	"| goverbs-wc | a ring's completions, taken into the caller's own `[]WC` |\n" +
	"| goverbs-list | `qp.PostRecv(wr)`, C's own shape |\n" +
	"| cgo | the best possible: integers as arguments, the result by value, no escape, no callback |\n" +
	"| cgo-typed | `C.ibv_post_recv(qp, wr, &bad)`, no escape, no callback |\n" +
	"| cgo-marshal | the usual Go binding: a call for each work request, which is built from scalars every time |\n" +
	"| purego | `purego.SyscallN` |\n" +
	"| goverbs-fallback | as goverbs, where there is no direct call (`" + subject.PortableEnv + "`) |\n"

// titles are the operations' headings, in order.
var titles = []struct{ op, title, note string }{
	{subject.PostRecv, "Posting receives to a queue pair", ""},
	{subject.PostSRQRecv, "Posting receives to a shared receive queue", ""},
	{subject.PostSend, "Posting sends", "Without the doorbell, which the stub has not."},
	{subject.PostRecvFull, "Posting a receive to a full queue", "The provider refuses, and the error says so."},
	{subject.PollEmpty, "Polling an empty completion queue", ""},
	{subject.Poll, "Polling completions", "As many are there as there is room for."},
	{subject.Ring, "Receiving with a ring", "Posting again what was received last, on a shared receive queue, and polling for as many: `ring.Poll` and `ring.Release`. C does the same with two calls."},
	{subject.Batch, "Posting RDMA writes in a batch", "From `ibv_wr_start` to `ibv_wr_complete`. On Soft-RoCE, that is a system call."},
	{subject.BatchAborted, "The same without the doorbell", "From `ibv_wr_start` to `ibv_wr_abort`: what there is besides the system call."},
	{subject.ExtendedPoll, "Polling an extended completion queue", "From `ibv_start_poll` to `ibv_end_poll`, with opcode, length, flags and queue pair of each completion. As many are there as there is room for."},
	{measure.Scale, "Posting one receive, from several goroutines", "Each has a thread and a queue pair of its own. What a post takes, as each sees it: the median of all their rounds. It stays what it is for one, because nothing is shared."},
	{measure.Build, "Building a chain of receives", "Nanoseconds of the processor for each work request, 48 bytes with its buffer entry, in new memory: `mr.RecvChain`. Beside it, a loop that fills as much new memory."},
	{measure.BuildEach, "Building it buffer by buffer", "The same with `NewRecvChain` and a `Set` for each: the memory is gone through twice."},
	{measure.Patch, "Giving every work request of a chain another buffer", "The same for `Set` on that chain, and for filling that memory again."},
}

// writeTable writes the medians of one operation, if there are any.
func (s *Samples) writeTable(w io.Writer, device, op, title, note string) {
	dimension, numbers := s.numbers(device, op)
	if len(numbers) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(implementations), func(impl string) bool {
		return !slices.ContainsFunc(numbers, func(n int) bool {
			_, ok := s.median(key{device, op, impl, dimension, n})
			return ok
		})
	})
	fmt.Fprintf(w, "\n### %s\n\n", title)
	if note != "" {
		fmt.Fprintf(w, "%s\n\n", note)
	}
	fmt.Fprintf(w, "| %s |", dimension)
	for _, impl := range columns {
		fmt.Fprintf(w, " %s |", impl)
	}
	fmt.Fprint(w, "\n|---|")
	for range columns {
		fmt.Fprint(w, "---|")
	}
	fmt.Fprintln(w)
	for _, n := range numbers {
		fmt.Fprintf(w, "| %d |", n)
		base := key{device, op, columns[0], dimension, n}
		for i, impl := range columns {
			k := key{device, op, impl, dimension, n}
			ns, ok := s.median(k)
			switch ratio, compared := s.compared(k, base, times); {
			case !ok:
				fmt.Fprint(w, " |")
			case i == 0 || !compared:
				fmt.Fprintf(w, " %.4g |", ns)
			default:
				fmt.Fprintf(w, " %.4g (%.2f) |", ns, ratio)
			}
		}
		fmt.Fprintln(w)
	}
}
