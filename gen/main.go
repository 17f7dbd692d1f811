// Command gen reads RDMA C headers and writes Go with the same memory layout.
//
//	gen generate   headers to Go (what go generate runs)
//	gen check      are the Go files what the headers give?
//	gen facts      headers to facts: layouts, values and prototypes as JSON
//	gen diff       what changed between two releases or targets
//	gen assert     headers to C static assertions of all that Go was told
//
// Each command explains itself with -h, also its exit status: 0 if all is well, 1
// if not, and 2 if the arguments make no sense, but for gen check and gen diff,
// whose status is the answer and which end with 3 if they could not compare.
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

// aboutStatus is how commands end whose exit status is no answer.
const aboutStatus = "The exit status is 0 if all is well, 1 if not, and 2 if the arguments make no sense."

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
	var differs differsError
	command := ""
	if len(args) > 0 {
		command = args[0]
	}
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case errors.As(err, &status):
		return int(status)
	case command == "diff":
		return notCompared
	case errors.As(err, &usage):
		return 2
	case command == "check" && !errors.As(err, &differs):
		return notCompared
	}
	return 1
}

func run(args []string, out io.Writer) error {
	if len(args) > 0 {
		for _, c := range commands() {
			if c.name == args[0] {
				printed := &answer{Writer: out}
				err := c.run(args[1:], printed)
				if printed.err != nil {
					return printed.err
				}
				return err
			}
		}
	}
	fmt.Fprintln(os.Stderr, "usage: gen COMMAND [FLAGS]; gen COMMAND -h explains one")
	for _, c := range commands() {
		fmt.Fprintf(os.Stderr, "  %-10s %s\n", c.name, c.about)
	}
	fmt.Fprint(os.Stderr, "\n"+aboutStatus+"\n"+
		"Of gen check and gen diff it is the answer, and 3 if they could not compare.\n"+aboutGoRun+"\n")
	if len(args) == 0 {
		return usagef("no command given")
	}
	if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		return flag.ErrHelp
	}
	return usagef("unknown command %q", args[0])
}
