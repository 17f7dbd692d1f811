package ccall

import (
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// queue is struct queue of testdata/calls.c.
type queue struct {
	compMask, status                                               uint32
	id                                                             uint64
	held, startResult, nextResult, nextFailsAt, setErrno, failedAt int64
	nextEnds, starts, nexts, ends, reads                           int64
	sawAttr, thread                                                uint64
}

// record is what a completion is read into.
type record struct {
	compMask, status   uint32
	id                 uint64
	wide, number, byte uint64
	filled             [2]uint64
	scratch            uint64
}

// extendedPoll polls a queue with everything read of a success, and less of a failure.
func extendedPoll(q *queue) *ExtendedPoll {
	var r record
	scratch := unsafe.Offsetof(r.scratch)
	wide := Read{mustFind("queue_read_wide"), unsafe.Offsetof(r.wide)}
	return &ExtendedPoll{
		CQ: unsafe.Pointer(q), Attr: unsafe.Pointer(new(uint32)), Head: unsafe.Pointer(q), Size: unsafe.Sizeof(r),
		Start: mustFind("queue_start"), Next: mustFind("queue_next"), End: mustFind("queue_end"),
		OnSuccess: Reads(
			wide,
			Read{mustFind("queue_read_clobber"), scratch},
			Read{mustFind("queue_read_number"), unsafe.Offsetof(r.number)},
			Read{mustFind("queue_read_byte"), unsafe.Offsetof(r.byte)},
		),
		OnFailure: Reads(wide),
		Fill:      mustFind("queue_read_record"), FillAt: unsafe.Offsetof(r.filled),
	}
}

// waysToPollEx runs a test over the ways to poll.
func waysToPollEx(t *testing.T, test func(t *testing.T, poll pollExFunc)) {
	symbol(t, "queue_start")
	t.Run("chosen", func(t *testing.T) { test(t, (*ExtendedPoll).Poll) })
	t.Run("step by step", func(t *testing.T) { test(t, pollProgram) })
	t.Run("portable", func(t *testing.T) { test(t, pollExPortable) })
}

func TestPollEx(t *testing.T) {
	const enoent = int32(syscall.ENOENT)
	tests := []struct {
		name        string
		q           queue
		n, want     int
		result      int32
		errno       syscall.Errno
		nexts, ends int64
	}{
		{"as many as there is room for", queue{nextFailsAt: 100}, 10, 10, 0, 0, 9, 1},
		{"one", queue{nextFailsAt: 100}, 1, 1, 0, 0, 0, 1},
		{"fewer", queue{nextFailsAt: 7, nextResult: int64(enoent)}, 10, 7, enoent, 0, 7, 1},
		{"the last one just fits", queue{nextFailsAt: 10, nextResult: int64(enoent)}, 10, 10, 0, 0, 9, 1},
		{"none", queue{setErrno: 3}, 10, 0, enoent, 0, 0, 0},
		{"start fails", queue{nextFailsAt: 5, startResult: int64(syscall.EIO), setErrno: 3}, 10, 0, int32(syscall.EIO), 0, 0, 0},
		{"start fails with -1", queue{nextFailsAt: 5, startResult: -1, setErrno: 33}, 10, 0, -1, 33, 0, 0},
		{"next fails", queue{nextFailsAt: 5, nextResult: int64(syscall.EINVAL), setErrno: 3}, 10, 5, int32(syscall.EINVAL), 0, 5, 1},
		{"next fails with -1", queue{nextFailsAt: 5, nextResult: -1, setErrno: 33}, 10, 5, -1, 33, 5, 1},
		{"next ends the poll", queue{nextFailsAt: 7, nextResult: int64(enoent), nextEnds: 1}, 10, 7, enoent, 0, 7, 1},
		{"next would end the poll", queue{nextFailsAt: 7, nextResult: int64(enoent), nextEnds: 1}, 7, 7, 0, 0, 6, 1},
		{"next fails with the least", queue{nextFailsAt: 1, nextResult: math.MinInt32, setErrno: 3}, 10, 1, math.MinInt32, 0, 1, 1},
	}
	waysToPollEx(t, func(t *testing.T, poll pollExFunc) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				q := &tt.q
				q.failedAt = 4
				p := extendedPoll(q)
				p.NextEnds = q.nextEnds != 0
				const none = 0x5555555555555555
				records := make([]record, tt.n+1)
				for i := range records {
					records[i] = record{none & math.MaxUint32, none & math.MaxUint32, none, none, none, none, [2]uint64{none, none}, none}
				}
				untouched := records[0]
				got, result, errno := poll(p, unsafe.Pointer(&records[0]), tt.n)
				require.Equal(t, tt.want, got)
				require.Equal(t, tt.result, result)
				require.Equal(t, tt.errno, syscall.Errno(errno))
				require.Zero(t, q.held)
				require.Equal(t, [3]int64{1, tt.nexts, tt.ends}, [3]int64{q.starts, q.nexts, q.ends}, "starts, nexts and ends")
				require.EqualValues(t, uintptr(p.Attr), q.sawAttr)
				for i, r := range records[:got] {
					id := uint64(i) + 1
					require.Equal(t, [3]uint64{none & math.MaxUint32, id, id<<40 | id}, [3]uint64{uint64(r.compMask), r.id, r.wide}, i)
					if id == 4 {
						require.EqualValues(t, 12, r.status)
						require.Equal(t, [3]uint64{none, none, none}, [3]uint64{r.number, r.byte, r.filled[0]}, "C gives a failure none of this")
						continue
					}
					require.Zero(t, r.status)
					require.Equal(t, ^uint32(id), uint32(r.number))
					require.Equal(t, byte(id+3), byte(r.byte))
					require.Equal(t, [2]uint64{id * 3, uint64(uintptr(unsafe.Pointer(q)))}, r.filled)
				}
				for _, r := range records[got:] {
					require.Equal(t, untouched, r)
				}
			})
		}
	})
}

// A list may be as long as it likes, and empty.
func TestPollExReadsLists(t *testing.T) {
	waysToPollEx(t, func(t *testing.T, poll pollExFunc) {
		for length := range 20 {
			var list []Read
			for i := range length {
				fn := []string{"queue_read_wide", "queue_read_clobber", "queue_read_number"}[i%3]
				list = append(list, Read{mustFind(fn), uintptr(16 + 8*i)})
			}
			q := &queue{nextFailsAt: 100, failedAt: 2}
			p := extendedPoll(q)
			p.OnSuccess, p.OnFailure, p.Fill, p.Size = Reads(list...), Reads(list[:length/2]...), 0, 22*8
			var records [3][22]uint64
			got, result, _ := poll(p, unsafe.Pointer(&records), 3)
			require.Equal(t, 3, got)
			require.Zero(t, result)
			require.EqualValues(t, 2*length+length/2, q.reads)
			for k, r := range records {
				id := uint64(k) + 1
				for i := range r[2:] {
					want := []uint64{id<<40 | id, math.MaxUint64, uint64(^uint32(id))}[i%3]
					if i >= length || id == 2 && i >= length/2 {
						want = 0
					}
					if i%3 == 2 {
						r[2+i] &= math.MaxUint32
					}
					require.Equal(t, want, r[2+i], "completion %d, read %d of %d", id, i, length)
				}
			}
		}
	})
}

// A queue is polled in several crossings where there is room for many, each of which is a whole one.
func TestPollExInCrossings(t *testing.T) {
	symbol(t, "queue_start")
	for _, there := range []int64{1000, 2 * mostPolled, mostPolled} {
		q := &queue{nextFailsAt: there, nextResult: int64(syscall.ENOENT)}
		p, records := extendedPoll(q), make([]record, 999)
		got, result, _ := p.Poll(unsafe.Pointer(&records[0]), len(records))
		require.EqualValues(t, min(there, 999), got)
		if there < 999 {
			require.Equal(t, syscall.ENOENT, syscall.Errno(result))
		} else {
			require.Zero(t, result)
		}
		require.EqualValues(t, there/mostPolled+1, q.starts)
		for i, r := range records[:got] {
			require.EqualValues(t, i+1, r.id)
		}
	}
	q := &queue{nextFailsAt: 5}
	got, result, errno := extendedPoll(q).Poll(nil, 0)
	require.Equal(t, [3]int{}, [3]int{got, int(result), int(errno)})
	require.Zero(t, q.starts)
}

// A function that is not there is not called, nor is another.
func TestPollExWithoutFunctions(t *testing.T) {
	symbol(t, "queue_start")
	for _, missing := range []func(*ExtendedPoll){
		func(p *ExtendedPoll) { p.Start = 0 }, func(p *ExtendedPoll) { p.Next = 0 }, func(p *ExtendedPoll) { p.End = 0 },
		func(p *ExtendedPoll) { p.OnSuccess = nil }, func(p *ExtendedPoll) { p.OnFailure = nil },
	} {
		q := &queue{nextFailsAt: 5}
		p := extendedPoll(q)
		missing(p)
		got, result, errno := p.Poll(unsafe.Pointer(new(record)), 1)
		require.Zero(t, got)
		require.EqualValues(t, -1, result)
		require.EqualValues(t, NotAsked, errno)
		require.Zero(t, q.starts)
	}
}
