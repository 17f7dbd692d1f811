package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// measured is two processes' measurements on a device, and one's on the stub.
const measured = `goos: linux
goarch: amd64
go: go1.26.8
machine: 2 processors
device: rxe0
BenchmarkPostRecv/impl=c/wr=1	100	10.00 ns/op	0 allocs/op
BenchmarkPostRecv/impl=goverbs/wr=1	100	12.40 ns/op	0 allocs/op
BenchmarkPostRecv/impl=cgo/wr=1	100	36.00 ns/op	0 allocs/op
BenchmarkPostRecv/impl=purego/wr=1-2	100	120 ns/op	2 allocs/op
BenchmarkPostRecv/impl=c/wr=4	100	20.00 ns/op	0 allocs/op
BenchmarkPostRecv/impl=goverbs/wr=4	100	24.00 ns/op	0 allocs/op
device: rxe0
BenchmarkPostRecv/impl=c/wr=1	100	20.00 ns/op	0 allocs/op
BenchmarkPostRecv/impl=goverbs/wr=1	100	24.00 ns/op	0 allocs/op
BenchmarkRing/impl=c/wr=1	100	20.00 ns/op	0 allocs/op
BenchmarkRing/impl=goverbs/wr=1	100	31.00 ns/op	0 allocs/op
BenchmarkRing/impl=goverbs-wc/wr=1	100	25.00 ns/op	0 allocs/op
BenchmarkRing/impl=c/wr=4	100	40.00 ns/op	0 allocs/op
BenchmarkRing/impl=goverbs/wr=4	100	66.00 ns/op	0 allocs/op
BenchmarkRing/impl=goverbs-wc/wr=4	100	44.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=c/bytes=64	256	1000.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=c/bytes=64	256	2000.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=c/bytes=64	256	4000.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs/bytes=64	256	1010.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs/bytes=64	256	2100.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs/bytes=64	256	4040.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs-ring/bytes=64	256	1050.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs-ring/bytes=64	256	2100.00 ns/op	0 allocs/op
BenchmarkPingPongRC/impl=goverbs-ring/bytes=64	256	4120.00 ns/op	0 allocs/op
machine: 4 processors
device: stub
BenchmarkPostRecv/impl=c/wr=1	100	8.00 ns/op	0 allocs/op
BenchmarkStop/impl=none/procs=2	400	448.00 ns/op	1572864 worst-ns/op
BenchmarkSlice/impl=none/procs=1	50	139.00 ns/op	2563 worst-ns/op
BenchmarkStop/impl=go/procs=2	400	40960.00 ns/op	1572864 worst-ns/op
BenchmarkSlice/impl=go/procs=1	50	12000000 ns/op	20000000 worst-ns/op
BenchmarkStop/impl=post/procs=2	400	40960.00 ns/op	2572864 worst-ns/op
BenchmarkSlice/impl=post/procs=1	50	20000000 ns/op	20100000 worst-ns/op
BenchmarkStop/impl=poll/procs=2	400	40960.00 ns/op	5572864 worst-ns/op
BenchmarkSlice/impl=poll/procs=1	50	20000000 ns/op	20100000 worst-ns/op
builds-timed-by: thread CPU clock, whose steps are 331ns
BenchmarkWakeUp/impl=c/wr=1	96	3000 ns/op	0 allocs/op
BenchmarkWakeUp/impl=rdma/wr=1	96	2500 ns/op	0 allocs/op
BenchmarkWakeUpIdle/impl=c/wr=1	35	4000 ns/op	0 allocs/op
BenchmarkWakeUpIdle/impl=rdma/wr=1	35	16000 ns/op	0 allocs/op
BenchmarkWakeUpIdle/impl=c/wr=1	35	8000 ns/op	0 allocs/op
BenchmarkWakeUpIdle/impl=rdma/wr=1	35	28000 ns/op	0 allocs/op
BenchmarkBuild/impl=goverbs/wr=1000000	100	6.00 ns/op
BenchmarkBuild/impl=memory-fill/wr=1000000	100	3.00 ns/op
`

func read(t *testing.T, text string) *Samples {
	t.Helper()
	s := &Samples{}
	require.NoError(t, s.Read(strings.NewReader(text), "measured"))
	return s
}

func TestWrite(t *testing.T) {
	var page bytes.Buffer
	require.NoError(t, read(t, measured).Write(&page, "plot.svg"))
	for _, want := range []string{
		"| wr | c | goverbs | cgo | purego |\n",
		"| 1 | 15 | 18.2 (1.22) | 36 (3.60) | 120 (12.00) |\n", // compared by process: 1.24 and 1.2
		"| 4 | 20 | 24 (1.20) | | |\n",
		"| a post of 1, times C | ≤ 1.25 | 1.22 | met |\n",
		"| a post of 4, times C | ≤ 1.10 | 1.2 | **missed** |\n",
		"| a post of 1, ns more than C | ≤ 2.5 | 3.2 | **missed** |\n",
		"| a post of 1, times faster than cgo | ≥ 3 | 2.903 | **missed** |\n",
		"| a post of 1, times faster than purego | ≥ 8 | 9.677 | met |\n",
		"| allocations of any post, poll or message, also onto a full queue | 0 | 0 | met |\n",
		"| 1000000 | 3 | 6 (2.00) |\n",
		"| receiving with a ring, handed out as Received, times C, at worst | ≤ 1.6 | 1.65, of 4 | **missed** |\n",
		"| receiving with a ring, into the caller's []WC, times C, at worst | ≤ 1.3 | 1.25, of 1 | met |\n",
		"| ping-pong, RC | 64 | 3 | 2000 | | 1.010 (1.010 to 1.050) | 1.050 (1.030 to 1.050) |\n",
		"| ping-pong, RC, 64 bytes, by chains, times C | ≤ 1.02 | 1.01 | met |\n",
		"| ping-pong, RC, 64 bytes, by rings, times C | ≤ 1.03 | 1.05 | **missed** |\n",
		"| two ends wake each other | 1 | 3 µs | 2.5 µs | -0.50 µs | -0.50 and -0.50 µs | met |\n",
		"| a completion comes when all is quiet | 2 | 6 µs | 22 µs | 16.00 µs | 12.00 and 20.00 µs | **missed** |\n",
		"| nothing: it has ended | 448 ns | 1.57 ms | 139 ns | 2.56 µs |  |\n",
		"| counts | 41 µs | 1.57 ms | 12 ms | 20 ms |  |\n",
		"| posts | 41 µs (1) | 2.57 ms (1.64) | 20 ms (1.67) | 20.1 ms (1) | met |\n",
		"| polls, and finds nothing | 41 µs (1) | 5.57 ms (3.54) | 20 ms (1.67) | 20.1 ms (1) | **missed** |\n",
		"\nLong chains are timed by the thread CPU clock, whose steps are 331ns.\n",
		"This run: linux, amd64, go1.26.8; 4 processors.",
	} {
		require.Contains(t, page.String(), want)
	}
	require.Less(t, strings.Index(page.String(), ": rxe0"), strings.Index(page.String(), ": stub"), "real devices come first")
}

func TestAllocationsAreSeen(t *testing.T) {
	s := read(t, "device: rxe0\nBenchmarkPoll/impl=goverbs/wr=1 1 9 ns/op 0.5 allocs/op\nBenchmarkPoll/impl=goverbs/wr=4 1 9 ns/op 0 allocs/op\n")
	require.Equal(t, []target{{"allocations of any post, poll or message, also onto a full queue", "0", "0.5", false}}, s.targets("rxe0"))
}

// TestMakingWayOnABusyMachine has a loop of Go's own miss what is wanted, too.
func TestMakingWayOnABusyMachine(t *testing.T) {
	busy := strings.Replace(measured, "1572864 worst-ns/op\nBenchmarkSlice/impl=go/procs=1", "9572864 worst-ns/op\nBenchmarkSlice/impl=go/procs=1", 1)
	var page bytes.Buffer
	require.NoError(t, read(t, busy).Write(&page, "plot.svg"))
	require.Contains(t, page.String(), "| polls, and finds nothing | 41 µs (1) | 5.57 ms (0.582) | 20 ms (1.67) | 20.1 ms (1) | **missed**, as by counting |\n")
}

func TestPlot(t *testing.T) {
	s := read(t, measured)
	require.Equal(t, "rxe0", s.PlotDevice())
	var svg bytes.Buffer
	require.NoError(t, s.Plot(&svg, "rxe0"))
	text := svg.String()
	for _, label := range []string{"goverbs", "purego", "rxe0"} {
		require.Contains(t, text, label)
	}
	decoder := xml.NewDecoder(&svg)
	for {
		_, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.Error(t, s.Plot(io.Discard, "mlx5_0"), "nothing was measured there")
}

func TestWrongInput(t *testing.T) {
	for _, text := range []string{
		"BenchmarkPostRecv/impl=c/wr=1 1 9 ns/op\n", // on no device
		"device: stub\nBenchmarkPostRecv/wr=1 1 9 ns/op\n",
		"device: stub\nBenchmarkPostRecv/impl=c 1 9 ns/op\n",
		"device: stub\nBenchmarkPostRecv/impl=c/wr=many 1 9 ns/op\n",
		"device: stub\nBenchmarkPostRecv/impl=c/wr=1 1 nine ns/op\n",
		"device: stub\nBenchmarkPostRecv/impl=c/wr=1 1 0 ns/op\n",
	} {
		require.Error(t, new(Samples).Read(strings.NewReader(text), "wrong"), text)
	}
	require.Error(t, new(Samples).Write(io.Discard, "plot.svg"), "nothing was measured")
}
