// Command gen reads RDMA C headers and writes Go with the same memory layout.
//
//	gen generate   headers to Go (what go generate runs)
//	gen check      are the Go files what the headers give?
//	gen facts      headers to facts: layouts, values and prototypes as JSON
//	gen diff       what changed between two releases or targets
//	gen assert     headers to C static assertions of all that Go was told
//
// Each command explains itself with -h. The exit status is 0 if all is well, 1 if
// not, and 2 if the arguments make no sense; gen diff has statuses of its own.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
)

// A command is one of the things that gen does.
type command struct {
	name, about string
	run         func(args []string, out io.Writer) error
}

func commands() []command {
	return []command{
		{"generate", "headers to Go", runGenerate},
		{"check", "are the Go files what the headers give?", runCheck},
		{"facts", "headers to facts, as JSON", runFacts},
		{"diff", "what changed between two releases or targets", runDiff},
		{"assert", "headers to C static assertions", runAssert},
	}
}

func main() {
	err := run(os.Args[1:], os.Stdout)
	var status exitError
	if err != nil && !errors.As(err, &status) && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "gen:", err)
	}
	os.Exit(exitStatus(os.Args[1:], err))
}

// usageError is a fault of the arguments, whatever the files hold.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// exitStatus is how the program ends after a run.
func exitStatus(args []string, err error) int {
	var status exitError
	var usage usageError
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &status):
		return int(status)
	case len(args) > 0 && args[0] == "diff":
		return diffFailed
	case errors.As(err, &usage):
		return 2
	}
	return 1
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				return c.run(args[1:], out)
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: gen COMMAND [FLAGS]; gen COMMAND -h explains one")
	for _, c := range commands() {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", c.name, c.about)
	}
	if len(args) == 0 {
		return usagef("no command given")
	}
	if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		return flag.ErrHelp
	}
	return usagef("unknown command %q", args[0])
}
