package rdma

import (
	"fmt"
	"os"
	"runtime"
	"strings"
)

// Checked reports whether checked mode is on: the environment variable
// GOVERBS_CHECK is 1 when the program starts, or the program was built with the tag
// goverbs_check.
func Checked() bool { return checked }

var checked = builtChecked || os.Getenv("GOVERBS_CHECK") == "1"

// stack is where something was done, or nil outside of checked mode.
type stack []uintptr

// callers is the stack of whoever called this package, in checked mode.
func callers() stack {
	if !checked {
		return nil
	}
	s := make(stack, 32)
	return s[:runtime.Callers(3, s)]
}

// String is a line for each function.
func (s stack) String() string {
	if s == nil {
		return ""
	}
	var b strings.Builder
	frames := runtime.CallersFrames(s)
	for {
		frame, more := frames.Next()
		fmt.Fprintf(&b, "\t%s\n\t\t%s:%d\n", frame.Function, frame.File, frame.Line)
		if !more {
			return b.String()
		}
	}
}
