// Command gen reads RDMA C headers and writes Go with the same memory layout.
//
//	gen generate   headers to Go (what go generate runs)
//	gen check      are the Go files what the headers give?
//	gen facts      headers to facts: layouts, values and prototypes as JSON
//	gen diff       what changed between two releases or targets
//	gen assert     headers to C static assertions of all that Go was told
//
// Each command explains itself with -h.
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
	switch {
	case errors.As(err, &status):
		os.Exit(int(status))
	case errors.Is(err, flag.ErrHelp):
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, "gen:", err)
		if len(os.Args) > 1 && os.Args[1] == "diff" {
			os.Exit(diffFailed)
		}
		os.Exit(1)
	}
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
		return errors.New("no command given")
	}
	if args[0] == "-h" || args[0] == "--help" || args[0] == "help" {
		return flag.ErrHelp
	}
	return fmt.Errorf("unknown command %q", args[0])
}
