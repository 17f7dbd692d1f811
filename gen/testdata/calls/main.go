package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"github.com/goverbs/goverbs/clib"
)

// function is a C function and what Go has for it. functions.go lists them.
type function struct {
	c      string
	call   any
	result string   // its type in C
	params []string // of each parameter: signed or unsigned and the size in bytes
}

// What the test says of the functions besides: those whose negative numbers, or
// NULL, are answers, and on which processor this is.
var (
	values = strings.Fields(os.Getenv("VALUES"))
	direct = strings.Split(os.Getenv("DIRECT"), ",")
	raw    = os.Getenv("RAW") != ""
	signs  = os.Getenv("SIGNS") != ""
)

var (
	script        = clib.Function{Library: &library, Name: "script"}
	recordedName  = clib.Function{Library: &library, Name: "recorded_name"}
	recordedCount = clib.Function{Library: &library, Name: "recorded_count"}
	recordedWord  = clib.Function{Library: &library, Name: "recorded_word"}
	someText      = clib.Function{Library: &library, Name: "some_text"}
)

var failures int

func fail(f function, format string, args ...any) {
	failures++
	fmt.Printf("%s: %s\n", f.c, fmt.Sprintf(format, args...))
}

// slot is the address of the function that a member of the header's records points to.
func slot(name string) uintptr {
	f := clib.Function{Library: &library, Name: name}
	return must(f.Address())
}

// pointing is a record whose member points to a function.
func pointing[T any](member, name string) *T {
	record := new(T)
	reflect.ValueOf(record).Elem().FieldByName(member).SetUint(uint64(slot(name)))
	return record
}

func must(word uintptr, err error) uintptr {
	if err != nil {
		panic(err)
	}
	return word
}

func main() {
	for _, f := range functions {
		for round := range 2 {
			arguments(f, round)
		}
		results(f)
	}
	fmt.Printf("%d functions, %d failures\n", len(functions), failures)
	if failures > 0 {
		os.Exit(1)
	}
}

// argument is a value of a type that no other argument has.
func argument(t reflect.Type, i, round int) reflect.Value {
	v := reflect.New(t).Elem()
	n := 16*round + i + 1
	switch t.Kind() {
	case reflect.Pointer:
		// Nothing is there, and the recorder does not look.
		v.Set(reflect.NewAt(t.Elem(), unsafe.Pointer(clib.At[byte](uintptr(0x7ead0000+64*n)))))
	case reflect.Bool:
		v.SetBool((i+round)%2 == 0)
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-1<<(t.Bits()-2) - int64(n))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		v.SetUint(7<<(t.Bits()-3) + uint64(n))
	default:
		panic("a parameter of type " + t.String())
	}
	return v
}

// word is what the recorder has to see of a value.
func word(v reflect.Value, param string) uint64 {
	var w uint64
	switch v.Kind() {
	case reflect.Pointer:
		w = uint64(v.Pointer())
	case reflect.Bool:
		if v.Bool() {
			w = 1
		}
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w = uint64(v.Int())
	default:
		w = v.Uint()
	}
	switch {
	case param == "signed 1":
		return uint64(int8(w))
	case param == "signed 2":
		return uint64(int16(w))
	case param == "signed 4", param == "unsigned 4" && raw && signs:
		return uint64(int32(w))
	}
	return w
}

func arguments(f function, round int) {
	call := reflect.ValueOf(f.call)
	if call.Type().NumIn() != len(f.params) {
		fail(f, "Go has %d parameters, and C %d", call.Type().NumIn(), len(f.params))
		return
	}
	must(script.Value(0, 0))
	var in []reflect.Value
	for i := range f.params {
		in = append(in, argument(call.Type().In(i), i, round))
	}
	call.Call(in)
	if name := clib.Text(must(recordedName.Value())); name != f.c {
		fail(f, "C's %s was called", name)
	}
	if n := int(must(recordedCount.Value())); n != len(in) {
		fail(f, "it got %d arguments", n)
	}
	for i, v := range in {
		want := word(v, f.params[i])
		if got := uint64(must(recordedWord.Value(uintptr(i)))); got != want {
			fail(f, "argument %d (%s) was %#x, not %#x", i+1, f.params[i], got, want)
		}
	}
}

// outcome is what C returns, and what Go makes of it.
type outcome struct {
	result uint64
	errno  syscall.Errno
	value  any
	err    error
}

const (
	minus1  = ^uint64(0)
	minus22 = minus1 - 21
	garbage = 0xfedcba98f6f5f4f3
)

// results tries the function with results of all kinds.
func results(f function) {
	call := reflect.ValueOf(f.call)
	var t reflect.Type
	if call.Type().NumOut() == 2 {
		t = call.Type().Out(0)
	}
	plain := slices.Contains(values, f.c)
	var all []outcome
	switch {
	case f.result == "void":
		all = []outcome{{garbage, syscall.ENOMEM, nil, nil}}
	case t == nil: // 0 or a reason
		all = []outcome{
			{0, syscall.ENOMEM, nil, nil},
			{22, 0, nil, syscall.EINVAL},
			{minus22, 0, nil, syscall.EINVAL},
			{minus22 & 0xffffffff, syscall.ENOMEM, nil, syscall.EINVAL},
			{minus1, syscall.ENOMEM, nil, syscall.ENOMEM},
			{minus1, 0, nil, syscall.EIO},
			{garbage &^ 0xffffffff, 0, nil, nil}, // above an int is nothing
		}
	case t.Kind() == reflect.String:
		all = []outcome{{0, syscall.ENOMEM, "", nil}, {uint64(must(someText.Address())), syscall.ENOMEM, "a text", nil}}
	case (t.Kind() == reflect.Pointer || strings.HasSuffix(f.result, "*")) && plain:
		all = []outcome{{0, syscall.ENOMEM, uint64(0), nil}, {0x7ead0040, syscall.ENOMEM, uint64(0x7ead0040), nil}}
	case t.Kind() == reflect.Pointer || strings.HasSuffix(f.result, "*"):
		all = []outcome{{0, syscall.ENOMEM, uint64(0), syscall.ENOMEM}, {0, 0, uint64(0), syscall.EIO}, {0x7ead0040, syscall.ENOMEM, uint64(0x7ead0040), nil}}
	case t.Kind() == reflect.Int: // a count
		all = []outcome{
			{0, syscall.ENOMEM, int64(0), nil},
			{7, syscall.ENOMEM, int64(7), nil},
			{minus22, 0, int64(0), syscall.EINVAL},
			{minus1, syscall.ENOMEM, int64(0), syscall.ENOMEM},
		}
		if f.result == "ssize_t" {
			all = append(all, outcome{1 << 40, 0, int64(1 << 40), nil})
		} else {
			all = append(all, outcome{minus22 & 0xffffffff, 0, int64(0), syscall.EINVAL})
		}
	case f.result == "int" && !plain:
		of5 := syscall.ENOMEM
		if slices.Contains(direct, f.c) {
			of5 = syscall.EIO // errno is looked at for -1 only
		}
		all = []outcome{
			{0, syscall.ENOMEM, int64(0), nil},
			{7, 0, int64(7), nil},
			{minus1, syscall.ENOMEM, int64(-1), syscall.ENOMEM},
			{minus1 - 4, syscall.ENOMEM, int64(-5), of5},
			{minus1, 0, int64(-1), syscall.EIO},
			{minus1 & 0xffffffff, syscall.ENOMEM, int64(-1), syscall.ENOMEM},
		}
	case t.Kind() == reflect.Bool:
		above := uint64(garbage &^ 0xff)
		if !raw {
			above = 0 // or C makes true of it
		}
		all = []outcome{{above, 0, false, nil}, {above | 1, 0, true, nil}}
	default:
		g := uint64(garbage)
		shift := 64 - t.Bits()
		want := any(g << shift >> shift)
		if t.Kind() <= reflect.Int64 {
			want = int64(g<<shift) >> shift
		}
		all = []outcome{{garbage, syscall.ENOMEM, want, nil}}
	}
	for _, o := range all {
		result := o.result
		must(script.Value(uintptr(result), uintptr(o.errno)))
		var in []reflect.Value
		for i := range f.params {
			in = append(in, argument(call.Type().In(i), i, 0))
		}
		out := call.Call(in)
		err, _ := out[len(out)-1].Interface().(error)
		if !errors.Is(err, o.err) || o.err == nil && err != nil {
			fail(f, "result %#x, errno %d: the error was %v, not %v", o.result, o.errno, err, o.err)
		}
		var named *clib.Error
		if err != nil && (!errors.As(err, &named) || named.Function != f.c) {
			fail(f, "the error was %v, which does not name it", err)
		}
		if t == nil {
			continue
		}
		var got any
		switch v := out[0]; v.Kind() {
		case reflect.String:
			got = v.String()
		case reflect.Bool:
			got = v.Bool()
		case reflect.Pointer:
			got = uint64(v.Pointer())
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			got = v.Int()
		default:
			got = v.Uint()
		}
		if got != o.value {
			fail(f, "result %#x: Go has %v, not %v", o.result, got, o.value)
		}
	}
}
