package ccall

import (
	"fmt"
	"math"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func init() {
	roles["served"], roles["slip"] = playServed, playSlip
}

// ground is what pointers to objects point into.
var ground [64]byte

// spot is object number i, and spotOf the number of one.
func spot(i int) unsafe.Pointer { return unsafe.Pointer(&ground[i]) }

func spotOf(p unsafe.Pointer) uintptr { return uintptr(p) - uintptr(spot(0)) }

// server is a provider of Go's, which notes what it was asked.
type server struct{ asked []string }

func (s *server) note(format string, args ...any) {
	s.asked = append(s.asked, fmt.Sprintf(format, args...))
}

// serve gives it numbers: of a post, a poll, and any other function.
func (s *server) serve() (post, poll, other uintptr) {
	p := Served{Name: "post", Post: func(object, list unsafe.Pointer) (int32, int32, uintptr) {
		s.note("post %d %d", spotOf(object), spotOf(list))
		return -1, int32(syscall.EXDEV), 77
	}}
	q := Served{Name: "poll", Poll: func(cq unsafe.Pointer, n int32, into unsafe.Pointer) (int32, int32) {
		s.note("poll %d %d %d", spotOf(cq), n, spotOf(into))
		return n + 1, 0
	}}
	o := Served{Name: "other", Call: func(a Args) (uintptr, syscall.Errno) {
		if a[0] >= FirstCode { // an object
			a[0] = spotOf(pointer(a[0]))
		}
		s.note("other %v", a[:6])
		return failedWord, syscall.EXDEV
	}}
	return Serve(p), Serve(q), Serve(o)
}

const failedWord = math.MaxUint64

// servedWays are the package's calls, each made of served functions, with what those must have been asked.
func servedWays(post, poll, other uintptr) []servedWay {
	refusedFrom := func(_ unsafe.Pointer, result, errno int32, bad uintptr) (unsafe.Pointer, error) {
		return nil, fmt.Errorf("%d %d %d", result, errno, bad)
	}
	refusedList := func(_ *List, result, errno int32, bad uintptr) (int, error) {
		return 0, fmt.Errorf("%d %d %d", result, errno, bad)
	}
	pollFailed := func(_ unsafe.Pointer, result, errno, asked int32) (int, error) {
		return 0, fmt.Errorf("%d of %d", result, asked)
	}
	list := &List{First: spot(17), Len: 1}
	return []servedWay{
		{"Post", func() any { r, e, bad := Post(post, spot(16), spot(17)); return fmt.Sprint(r, e, bad) },
			"-1 18 77", []string{"post 16 17"}},
		{"PostFrom", func() any { _, err := PostFrom(post, spot(16), spot(17), nil, refusedFrom); return err },
			"-1 18 77", []string{"post 16 17"}},
		{"PostList", func() any { _, err := PostList(post, spot(16), list, nil, refusedList); return err },
			"-1 18 77", []string{"post 16 17"}},
		{"BindList", func() any { _, err := BindList(post, spot(16), refusedList)(list, 0, 0); return err },
			"-1 18 77", []string{"post 16 17"}},
		{"Poll", func() any { _, err := Poll(poll, spot(16), spot(17), 3, pollFailed); return err },
			"4 of 3", []string{"poll 16 3 17"}},
		{"BindPoll", func() any { _, err := BindPoll(poll, spot(16), pollFailed)(spot(17), 3, 0); return err },
			"4 of 3", []string{"poll 16 3 17"}},
		{"Call", func() any { r, e := Call(other, 1, 2, 3, 4, 5, 6); return fmt.Sprint(int32(r), e) },
			"-1 18", []string{"other [1 2 3 4 5 6]"}},
		{"Play", func() any {
			o := new(object)
			p := Program{Object: spot(16), Start: other, Complete: other, Words: unsafe.Pointer(&o.id)}
			r, e := p.Play([]Step{{Op: other, OpArgs: [5]uintptr{1, 2, 3, 4, 5}}})
			return fmt.Sprint(r, e)
		}, "-1 18", []string{"other [16 0 0 0 0 0]", "other [16 1 2 3 4 5]", "other [16 0 0 0 0 0]"}},
		{"ExtendedPoll", func() any {
			p := ExtendedPoll{CQ: spot(16), Start: other, Next: other, End: other, OnSuccess: Reads(), OnFailure: Reads()}
			n, r, e := p.Poll(spot(18), 3)
			return fmt.Sprint(n, r, e)
		}, "0 -1 18", []string{"other [16 0 0 0 0 0]"}},
	}
}

type servedWay struct {
	name  string
	call  func() any
	want  string
	asked []string
}

// playServed makes each call of served functions, and then of C's.
func playServed(string) error {
	library, err := build()
	if err != nil {
		return err
	}
	cPost, err := library.Symbol("post_script")
	if err != nil {
		return err
	}
	s := new(server)
	for _, w := range servedWays(s.serve()) {
		s.asked = nil
		if got := fmt.Sprint(w.call()); got != w.want || fmt.Sprint(s.asked) != fmt.Sprint(w.asked) {
			return fmt.Errorf("%s: %s, not %s, of %q, not %q", w.name, got, w.want, s.asked, w.asked)
		}
	}
	c := &script{setErrno: untouched, setBad: keep, result: 5}
	if result, errno, bad := Post(cPost, unsafe.Pointer(c), unsafe.Pointer(c)); result != 5 || errno != 0 || bad != 0 {
		return fmt.Errorf("C's post: %d %d %d", result, errno, bad)
	}
	return nil
}

// Every call comes to a served function with what the caller gave, and C's functions are called as ever.
func TestServed(t *testing.T) {
	symbol(t, "post_script")
	for _, how := range []string{"", "portable"} {
		stdout, stderr, code := another(t, "served", "GOVERBS_CCALL="+how)
		require.Zero(t, code, stdout+stderr)
	}
}

// playSlip jumps to a served function as if it were C's.
func playSlip(string) error {
	slipped := Post
	number, _, _ := new(server).serve()
	slipped(number, nil, spot(16))
	fmt.Println("it went on")
	return nil
}

// A jump to the number of a served function faults at once, and does nothing else.
func TestSlipFaults(t *testing.T) {
	for _, how := range []string{"", "portable"} {
		stdout, stderr, code := another(t, "slip", "GOVERBS_CCALL="+how)
		require.Equal(t, 2, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "SIG") // which, and at what address, processors have in ways of their own
		require.Contains(t, stderr, "ccall.play", "who called")
	}
}
