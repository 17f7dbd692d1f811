package main

import (
	"flag"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/bench/internal/device"
	"github.com/goverbs/goverbs/bench/internal/subject"
	"github.com/goverbs/goverbs/bench/internal/ticks"
)

var deviceName = flag.String("device", "", "the RDMA device to post to; the stub if not given")

func BenchmarkPostRecv(b *testing.B)     { benchmark(b, subject.PostRecv) }
func BenchmarkPostSRQRecv(b *testing.B)  { benchmark(b, subject.PostSRQRecv) }
func BenchmarkPostSend(b *testing.B)     { benchmark(b, subject.PostSend) }
func BenchmarkPostRecvFull(b *testing.B) { benchmark(b, subject.PostRecvFull) }
func BenchmarkPollEmpty(b *testing.B)    { benchmark(b, subject.PollEmpty) }
func BenchmarkPoll(b *testing.B)         { benchmark(b, subject.Poll) }
func BenchmarkRing(b *testing.B)         { benchmark(b, subject.Ring) }
func BenchmarkBatch(b *testing.B)        { benchmark(b, subject.Batch) }
func BenchmarkBatchAborted(b *testing.B) { benchmark(b, subject.BatchAborted) }
func BenchmarkExtendedPoll(b *testing.B) { benchmark(b, subject.ExtendedPoll) }
func BenchmarkWakeUp(b *testing.B)       { benchmark(b, subject.WakeUp) }
func BenchmarkWakeUpIdle(b *testing.B)   { benchmark(b, subject.WakeUpIdle) }

// Messages need a device: -args -device rxe0.
func BenchmarkPingPongRC(b *testing.B)    { benchmark(b, subject.PingPongRC) }
func BenchmarkPingPongUD(b *testing.B)    { benchmark(b, subject.PingPongUD) }
func BenchmarkMessageRateRC(b *testing.B) { benchmark(b, subject.MessageRateRC) }
func BenchmarkMessageRateUD(b *testing.B) { benchmark(b, subject.MessageRateUD) }

// benchmark makes whole rounds, at least b.N calls, and reports the median
// round. What empties the queue between the rounds does not count.
func benchmark(b *testing.B, op string) {
	d := open(b)
	tickLength := ticks.Length()
	for _, wrs := range subject.Lengths(op) {
		subjects, err := subject.Of(d, op, wrs)
		require.NoError(b, err)
		for _, s := range subjects {
			b.Run(s.Name(), func(b *testing.B) {
				var rounds []int64
				for calls := 0; calls < b.N; calls += s.Calls {
					ticks, err := s.Round()
					require.NoError(b, err)
					rounds = append(rounds, ticks)
				}
				slices.Sort(rounds)
				b.ReportMetric(s.Nanoseconds(rounds[len(rounds)/2], tickLength), "ns/op")
			})
		}
	}
}

// TestSubjects makes one round of everything: each checks what it posted.
func TestSubjects(t *testing.T) {
	d := open(t)
	for _, op := range subject.Operations() {
		for _, wrs := range subject.Lengths(op) {
			subjects, err := subject.Of(d, op, wrs)
			require.NoError(t, err)
			for _, s := range subjects {
				_, err := s.Round()
				require.NoError(t, err)
			}
		}
	}
}

// TestNothingIsAllocated covers every post and poll of goverbs, onto a full
// queue too.
func TestNothingIsAllocated(t *testing.T) {
	d := open(t)
	for _, op := range subject.Operations() {
		for _, wrs := range subject.Lengths(op) {
			subjects, err := subject.Of(d, op, wrs)
			require.NoError(t, err)
			for _, s := range subjects {
				if !slices.Contains(subject.Ours, s.Impl) {
					continue
				}
				allocs, err := s.Allocs()
				require.NoError(t, err)
				require.Zero(t, allocs, "%s/%s", s.Op, s.Name())
			}
		}
	}
}

func open(t testing.TB) device.Device {
	t.Helper()
	runtime.GC()
	d, err := device.Open(*deviceName)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}
