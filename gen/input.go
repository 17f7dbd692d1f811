package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// input is what every command reads: a header, where it is, and for whom.
type input struct {
	header  string
	dirs    list
	targets list
}

// list is a flag that may be given many times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// newFlags makes the flags that all commands share. about says what the
// command does.
func newFlags(name, about string, in *input) *flag.FlagSet {
	fs := flag.NewFlagSet("gen "+name, flag.ContinueOnError)
	fs.StringVar(&in.header, "header", "infiniband/verbs.h", "the `header`, as a C program includes it")
	fs.Var(&in.dirs, "I", "a `folder` to look for headers in; repeatable (default /usr/include, /usr/local/include)")
	fs.Var(&in.targets, "target", "`os/arch[/libc]` to read the headers for; repeatable (default: every target of the Go bindings)")
	fs.Usage = func() {
		fmt.Fprintf(fs.Output(), "usage: gen %s [FLAGS]\n\n%s\n\n", name, about)
		fs.PrintDefaults()
	}
	return fs
}

// parseFlags parses the arguments, of which all must be flags.
func parseFlags(fs *flag.FlagSet, args []string) error {
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%s takes flags only, not %q", fs.Name(), fs.Arg(0))
	}
	return nil
}

// read parses the header for every target.
func (in *input) read() ([]*abi.Facts, error) {
	dirs := in.dirs
	if len(dirs) == 0 {
		dirs = list{"/usr/include", "/usr/local/include"}
	}
	for _, dir := range dirs {
		if _, err := os.Stat(dir); err != nil && len(in.dirs) > 0 {
			return nil, fmt.Errorf("include folder: %w", err)
		}
	}
	targets := headers.GoTargets("linux")
	if len(in.targets) > 0 {
		targets = nil
		for _, name := range in.targets {
			t, err := headers.ParseTarget(name)
			if err != nil {
				return nil, err
			}
			targets = append(targets, t)
		}
	}
	var all []*abi.Facts
	for _, t := range targets {
		f, err := cheader.Parse(cheader.Source{Header: in.header, IncludeDirs: dirs}, t)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// readOne parses the header for the one target given, or for linux/amd64.
func (in *input) readOne() (*abi.Facts, error) {
	if len(in.targets) > 1 {
		return nil, errors.New("this command takes one -target")
	}
	if len(in.targets) == 0 {
		in.targets = list{"linux/amd64"}
	}
	all, err := in.read()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}
