package rdma

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
)

// Checked reports whether checked mode is on: the environment variable
// GOVERBS_CHECK is 1 when the program starts, or the program was built with the tag
// goverbs_check.
func Checked() bool { return checked }

var checked = builtChecked || os.Getenv("GOVERBS_CHECK") == "1"

// stack is where something was done, or nil outside of checked mode.
type stack []uintptr

// callers is the stack of whoever called its caller, in checked mode.
func callers() stack {
	if !checked {
		return nil
	}
	s := make(stack, 64) // of which String leaves out some
	return s[:runtime.Callers(3, s)]
}

// String is two lines for each function of the program's, the innermost first: those
// of this library are left out, and those that run goroutines and tests. If nothing
// is left, it is all functions.
func (s stack) String() string {
	if len(s) == 0 {
		return ""
	}
	var all []runtime.Frame
	for frames, more := runtime.CallersFrames(s), true; more; {
		var frame runtime.Frame
		frame, more = frames.Next()
		all = append(all, frame)
	}
	own := all
	for len(own) > 0 && isRuntime(own[len(own)-1].Function) {
		own = own[:len(own)-1]
	}
	own = slices.DeleteFunc(slices.Clone(own), isLibrary)
	if len(own) == 0 {
		own = all
	}
	var b strings.Builder
	for _, frame := range own {
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", frame.Function, frame.File, frame.Line)
	}
	return b.String()
}

// isRuntime reports whether a function is one of those that a stack begins with.
func isRuntime(function string) bool {
	return strings.HasPrefix(function, "runtime.") || strings.HasPrefix(function, "testing.")
}

// module is what the names of the library's packages begin with.
var module = strings.TrimSuffix(reflect.TypeFor[stack]().PkgPath(), "rdma")

// isLibrary reports whether a function is this library's. Its tests are programs.
func isLibrary(frame runtime.Frame) bool {
	name, ok := strings.CutPrefix(frame.Function, module)
	return ok && !strings.HasSuffix(frame.File, "_test.go") &&
		(strings.HasPrefix(name, "rdma.") || strings.HasPrefix(name, "ibv.") || strings.HasPrefix(name, "internal/"))
}
