package main

import (
	"bytes"
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// input is what the commands read: a header, where it is, and for whom.
type input struct {
	header  string
	dirs    list
	targets list
	facts   string
	version string
}

// list is a flag that may be given many times.
type list []string

func (l *list) String() string     { return strings.Join(*l, ",") }
func (l *list) Set(s string) error { *l = append(*l, s); return nil }

// newFlags makes the flags of a command: those that all share. about says what
// the command does, and operands what it takes besides flags.
func newFlags(name, operands, about string, in *input) *flag.FlagSet {
	flags := flag.NewFlagSet("gen "+name, flag.ContinueOnError)
	flags.StringVar(&in.header, "header", verbs, "the `header`, as a C program includes it")
	flags.Usage = func() {
		fmt.Fprintf(flags.Output(), "usage: gen %s [FLAGS]%s\n\n%s\n\n", name, operands, about)
		flags.PrintDefaults()
	}
	return flags
}

// foldersFlag adds the flag that names folders of headers.
func (in *input) foldersFlag(flags *flag.FlagSet) {
	flags.Var(&in.dirs, "I", "a `folder` to look for headers in, in place of /usr/include and /usr/local/include; repeatable")
}

// targetsFlag adds the flag -target of commands that take many.
func (in *input) targetsFlag(flags *flag.FlagSet) {
	flags.Var(&in.targets, "target", "`os/arch[/libc]` to read the headers for, such as linux/arm64 or linux/arm64/musl; repeatable")
}

// targetFlag adds the flag -target of commands that take one.
func (in *input) targetFlag(flags *flag.FlagSet) {
	flags.Var(&in.targets, "target", "the one `os/arch[/libc]` to read the headers for, such as linux/arm64 or linux/arm64/musl")
}

// factsFlags adds the flags of commands that also take facts for headers.
func (in *input) factsFlags(flags *flag.FlagSet) {
	flags.StringVar(&in.facts, "facts", "", "a `file` that gen facts wrote, to take in place of the headers")
}

// versionFlag adds the flag that names the headers' release.
func (in *input) versionFlag(flags *flag.FlagSet) {
	flags.StringVar(&in.version, "version", "", "the rdma-core `release` of the headers (default: what libibverbs.pc beside them says)")
}

// parseFlags parses the arguments, of which all must be flags.
func parseFlags(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	if err := parseSome(flags, args, stdout); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return usagef("%s takes flags only, not %q", flags.Name(), flags.Arg(0))
	}
	return nil
}

// parseSome parses flags up to the first argument that is none. A wish for
// help is granted on stdout; what goes wrong is for main to print. No flag
// means anything with an empty value, as an unset variable of a script gives.
func parseSome(flags *flag.FlagSet, args []string, stdout io.Writer) error {
	var printed bytes.Buffer
	flags.SetOutput(&printed)
	err := flags.Parse(args)
	if errors.Is(err, flag.ErrHelp) {
		if _, werr := printed.WriteTo(stdout); werr != nil {
			return werr
		}
		return err
	}
	flags.Visit(func(f *flag.Flag) {
		if err == nil && f.Value.String() == "" {
			err = fmt.Errorf("-%s is empty", f.Name)
		}
	})
	if err != nil {
		return usagef("%w; %s -h explains", err, flags.Name())
	}
	return nil
}

// read gives the facts of every target, in the order of the targets.
func (in *input) read() ([]*abi.Facts, error) {
	if !fs.ValidPath(in.header) || in.header == "." || strings.ContainsAny(in.header, "<>\"\\\n\r\x00") {
		return nil, usagef("-header %q: want the header as a C program includes it, such as infiniband/verbs.h; -I says in which folder it is", in.header)
	}
	targets, err := in.parseTargets()
	if err != nil {
		return nil, err
	}
	if in.facts != "" {
		return in.readFacts(targets)
	}
	dirs, err := in.includeDirs()
	if err != nil {
		return nil, err
	}
	if targets == nil {
		targets = headers.GoTargets(headersSystem(dirs))
	}
	version := in.version
	if version == "" {
		version = headersVersion(dirs, in.header)
	}
	all := make([]*abi.Facts, len(targets))
	errs := make([]error, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			all[i], errs[i] = parseOwn(cheader.Source{Header: in.header, IncludeDirs: dirs}, t)
		})
	}
	wg.Wait()
	if err := in.refused(targets, errs); err != nil {
		return nil, err
	}
	var left notes
	for _, f := range all {
		f.Version = version
		for _, text := range f.LeftOut {
			left.add(text, f.Target())
		}
	}
	left.print(stderr, len(all))
	return all, nil
}

// refused is the error of reading a header for targets, the first one's, and says
// what to do where the header is for some of them only.
func (in *input) refused(targets []headers.Target, errs []error) error {
	var first error
	var read []string
	for i, err := range errs {
		if err == nil {
			read = append(read, "-target "+targets[i].String())
		}
		first = cmp.Or(first, err)
	}
	if first == nil || read == nil {
		return first
	}
	return fmt.Errorf("%w\nthe header is not for every target; where it is, it was read: give %s", first, strings.Join(read, " "))
}

func (in *input) parseTargets() ([]headers.Target, error) {
	var all []headers.Target
	for _, name := range in.targets {
		t, err := headers.ParseTarget(name)
		if err != nil {
			return nil, usageError{err}
		}
		all = append(all, t)
	}
	return all, nil
}

// includeDirs are the folders to look for headers in.
func (in *input) includeDirs() ([]string, error) {
	if len(in.dirs) == 0 {
		return []string{"/usr/include", "/usr/local/include"}, nil
	}
	for _, dir := range in.dirs {
		if info, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("looking for headers in the folder of -I: %w", err)
		} else if !info.IsDir() {
			return nil, fmt.Errorf("looking for headers: -I %s is not a folder", dir)
		}
	}
	return in.dirs, nil
}

// readFacts takes the facts of the wanted targets, or all, from the file.
func (in *input) readFacts(targets []headers.Target) ([]*abi.Facts, error) {
	if len(in.dirs) > 0 || in.version != "" {
		return nil, usagef("-facts stands in for the headers and knows their release: it does not go with -I or -version")
	}
	all, err := abi.ReadFiles(in.facts)
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		if f.Header != in.header {
			return nil, fmt.Errorf("%s is of %s, not of %s (say -header %s)", in.facts, f.Header, in.header, f.Header)
		}
	}
	all = ownFacts(all)
	if targets == nil {
		return all, nil
	}
	var some []*abi.Facts
	for _, t := range targets {
		f := factsOf(all, t)
		if f == nil {
			return nil, fmt.Errorf("%s holds no facts of %s, but of %s; name one of them with -target", in.facts, t, targetsOf(all))
		}
		some = append(some, f)
	}
	return some, nil
}

// targetsOf lists the targets that there are facts of.
func targetsOf(all []*abi.Facts) string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = headers.Target{OS: f.GOOS, Arch: f.GOARCH, Libc: f.Libc}.String()
	}
	return strings.Join(names, ", ")
}

func factsOf(all []*abi.Facts, t headers.Target) *abi.Facts {
	for _, f := range all {
		if f.GOOS == t.OS && f.GOARCH == t.Arch && f.Libc == t.Libc {
			return f
		}
	}
	return nil
}

// readOne gives the facts of the one target given, or of amd64 with the system
// that the headers are of.
func (in *input) readOne() (*abi.Facts, error) {
	if len(in.targets) > 1 {
		return nil, usagef("this command takes one -target, not %d", len(in.targets))
	}
	if err := in.defaultTarget(); err != nil {
		return nil, err
	}
	all, err := in.read()
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// defaultTarget takes amd64 where no target is given.
func (in *input) defaultTarget() error {
	if len(in.targets) > 0 {
		return nil
	}
	system := "linux"
	if in.facts == "" {
		dirs, err := in.includeDirs()
		if err != nil {
			return err
		}
		system = headersSystem(dirs)
	}
	in.targets = list{system + "/amd64"}
	return nil
}
