package ccall

import (
	"fmt"
	"math"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/dl"
)

// seen is struct seen of testdata/calls.c.
type seen struct {
	what      int64
	id, flags uint64
	args      [6]uint64
	thread    uint64
}

// What functions of testdata/calls.c are told apart by.
const (
	sawStart = iota
	sawComplete
	sawOp
	sawAddress
	sawData
	sawAtomic
)

// object is struct object of testdata/calls.c.
type object struct {
	id                        uint64
	flags, behind             uint32
	held, result, setErrno, n int64
	seen                      [40]seen
}

// program is a program on an object that locks it from start to complete.
func program(o *object) *Program {
	return &Program{Object: unsafe.Pointer(o), Start: mustFind("object_start"), Complete: mustFind("object_complete"), Words: unsafe.Pointer(&o.id)}
}

// waysToPlay runs a test over the ways to play programs.
func waysToPlay(t *testing.T, test func(t *testing.T, play func(p *Program, steps []Step) (result, errno int32))) {
	symbol(t, "object_start")
	t.Run("chosen", func(t *testing.T) { test(t, (*Program).Play) })
	t.Run("step by step", func(t *testing.T) {
		test(t, func(p *Program, steps []Step) (result, errno int32) {
			return playProgram(p, unsafe.SliceData(steps), len(steps))
		})
	})
	t.Run("portable", func(t *testing.T) {
		test(t, func(p *Program, steps []Step) (result, errno int32) {
			return playPortable(p, unsafe.SliceData(steps), len(steps))
		})
	})
}

// Every call has its arguments where they belong, and comes in its turn, on one thread.
func TestPlay(t *testing.T) {
	waysToPlay(t, func(t *testing.T, play func(p *Program, steps []Step) (result, errno int32)) {
		o := &object{setErrno: untouched, behind: 77}
		p := program(o)
		op, address, data, atomic := mustFind("object_op"), mustFind("object_address"), mustFind("object_data"), mustFind("object_atomic")
		var steps []Step
		want := []seen{{what: sawStart}}
		for n := range uint64(10) {
			id, flags := 1<<40+n, 0xf0000000+n
			word := func(i uint64) uint64 { return 0x8000000000000000 + n<<32 + i }
			half := func(i uint64) uint32 { return uint32(0xf0000000 + n<<8 + i) }
			s := Step{WRID: id, Flags: uint32(flags)}
			see := func(what int64, args ...uint64) {
				w := seen{what: what, id: id, flags: flags}
				copy(w.args[1:], args)
				want = append(want, w)
			}
			if n%2 == 0 {
				s.Op, s.OpArgs = op, [5]uintptr{Unsigned(half(1)), uintptr(word(2)), uintptr(word(3)), 200, 201}
				see(sawOp, uint64(half(1)), word(2), word(3), 200, 201)
			} else {
				s.Op, s.OpArgs = atomic, [5]uintptr{Unsigned(half(1)), uintptr(word(2)), uintptr(word(3)), uintptr(word(4))}
				see(sawAtomic, uint64(half(1)), word(2), word(3), word(4))
			}
			if n%3 == 0 {
				s.Address, s.AddressArgs = address, [3]uintptr{uintptr(word(5)), Unsigned(half(6)), Unsigned(half(7))}
				see(sawAddress, word(5), uint64(half(6)), uint64(half(7)))
			}
			if n%4 != 0 {
				s.Data, s.DataArgs = data, [3]uintptr{Unsigned(half(8)), uintptr(word(9)), Unsigned(half(10))}
				see(sawData, uint64(half(8)), word(9), uint64(half(10)))
			}
			steps = append(steps, s)
		}
		want = append(want, seen{what: sawComplete, id: o.seen[0].id})
		last := &steps[len(steps)-1]
		want[len(want)-1].id, want[len(want)-1].flags = last.WRID, uint64(last.Flags)

		result, errno := play(p, steps)
		require.Zero(t, result)
		require.Zero(t, errno)
		require.Zero(t, o.held)
		require.EqualValues(t, 77, o.behind, "nothing is stored behind the flags")
		require.EqualValues(t, len(want), o.n)
		for i := range want {
			want[i].args[0] = uint64(uintptr(unsafe.Pointer(o)))
			want[i].thread = o.seen[0].thread
			require.Equal(t, want[i], o.seen[i], i)
		}
	})
}

func TestPlayReturnsWhatCompleteDoes(t *testing.T) {
	tests := []struct {
		name             string
		result, setErrno int64
		wantResult       int32
		wantErrno        syscall.Errno
	}{
		{"success", 0, untouched, 0, 0},
		{"errno value", int64(syscall.ENOMEM), int64(syscall.EIO), int32(syscall.ENOMEM), 0},
		{"-1 and errno", -1, int64(syscall.EIO), -1, syscall.EIO},
		{"smallest", math.MinInt32, int64(syscall.EIO), math.MinInt32, 0},
	}
	waysToPlay(t, func(t *testing.T, play func(p *Program, steps []Step) (result, errno int32)) {
		for _, tt := range tests {
			for _, steps := range [][]Step{nil, make([]Step, 1), {{Op: mustFind("object_clobber"), Data: mustFind("object_clobber")}, {Address: mustFind("object_clobber")}}} {
				t.Run(fmt.Sprint(tt.name, ", ", len(steps)), func(t *testing.T) {
					o := &object{result: tt.result, setErrno: tt.setErrno}
					result, errno := play(program(o), steps)
					require.Equal(t, tt.wantResult, result)
					require.Equal(t, tt.wantErrno, syscall.Errno(errno))
					require.EqualValues(t, 2, o.n, "start and complete")
					require.Zero(t, o.held)
				})
			}
		}
	})
}

// Two goroutines that play parts of the same steps at the same time play as many as each was told: one that
// went by the other's end would never meet it.
func TestPlayTogether(t *testing.T) {
	waysToPlay(t, func(t *testing.T, play func(p *Program, steps []Step) (result, errno int32)) {
		const part, plays = 4, 200_000 // long enough for both to be at it
		o := &object{setErrno: untouched}
		p := program(o)
		steps := make([]Step, 2*part)
		for i := range steps {
			steps[i] = Step{Op: mustFind("object_op"), Data: mustFind("object_data"), Plain: 1}
		}
		var group sync.WaitGroup
		for k := range 2 {
			group.Go(func() {
				for range plays {
					play(p, steps[k*part:(k+1)*part])
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 2*plays*(1+2*part+1), o.n)
		require.Zero(t, o.held)
	})
}

// A function that is not there is not called, nor is the other one: C would be left with its lock.
func TestPlayWithoutFunctions(t *testing.T) {
	symbol(t, "object_start")
	for _, missing := range []func(*Program){func(p *Program) { p.Start = 0 }, func(p *Program) { p.Complete = 0 }} {
		o := new(object)
		p := program(o)
		missing(p)
		result, errno := p.Play(make([]Step, 1))
		require.EqualValues(t, -1, result)
		require.EqualValues(t, NotAsked, errno)
		require.Zero(t, o.n)
	}
}

func TestCall(t *testing.T) {
	six, fails, wide := symbol(t, "call_six"), symbol(t, "call_fails"), symbol(t, "call_unsigned")
	for name, call := range map[string]func(fn, a, b, c, d, e, f uintptr) (uintptr, int32){"chosen": Call, "step by step": callAny, "portable": callPortable} {
		t.Run(name, func(t *testing.T) {
			result, errno := call(six, 1, 2, 3, 4, 5, 6)
			require.EqualValues(t, 654321, result)
			require.Zero(t, errno)
			result, errno = call(six, 1<<40, 0, 0, 0, 0, 0)
			require.EqualValues(t, 1<<40, result, "the whole register")
			require.Zero(t, errno)
			result, errno = call(fails, uintptr(syscall.EXDEV), 0, 0, 0, 0, 0)
			require.EqualValues(t, -1, int32(result))
			require.Equal(t, syscall.EXDEV, syscall.Errno(errno))
			result, errno = call(wide, Unsigned(0xfffffff0), 0, 0, 0, 0, 0)
			require.EqualValues(t, 0xfffffff1, result)
			require.Zero(t, errno)
		})
	}
}

// The registers that C passes 32-bit numbers in are those that purego's own calls have to use, too.
func TestUnsigned(t *testing.T) {
	wide := symbol(t, "call_unsigned")
	for _, number := range []uint32{0, 1, 1<<31 - 1, 1 << 31, math.MaxUint32} {
		result, _ := dl.Call(wide, Unsigned(number))
		require.EqualValues(t, uint64(number)+1, result)
	}
}
