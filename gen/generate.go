package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/gosrc"
)

const aboutGenerate = `Reads a header for all targets and writes Go: zz_generated.go with what is the
same on all of them, and a file for each set of targets that has something to
itself, such as zz_generated_freebsd.go and zz_generated_not-freebsd.go. Each
struct has C's size, alignment and offsets, and the files hold assertions that
make the Go compiler refuse them if it were not so. No C compiler is asked.

What was generated once is never taken away. Beside the Go files lies what they
were written from, ` + factsName + `:

  - headers that are older are compared with it and change nothing;
  - headers that are newer add to it;
  - headers that contradict it, a changed layout, value or prototype, are
    refused with a report.

So is how they were written: the first line of each has the command, and flags that
are not given, -header and -library among them, are as they were.

So every machine writes the same bytes, whichever release it has installed. Where
there are no headers, -facts FILE takes their place. Other headers of rdma-core go
into packages of their own:

  gen generate -header infiniband/mlx5dv.h -library libmlx5.so.1 -o ./mlx5dv
  gen generate -header rdma/rdma_cma.h -library librdmacm.so.1 -package cma -o ./cma

They use the types of package ibv for what it has just so, and declare the rest: a
*ibv.QP goes where C's struct ibv_qp * does. What the headers have otherwise than
ibv, as older ones do, is declared too. -import names another package for
infiniband/verbs.h, or none.

Go's names go without what most of a header's functions, types or enumerators start
with: struct mlx5dv_qp is mlx5dv.QP. That is found out when the package is first
written, and stays.

In a module of your own, add the generator as a tool, for the go command to know
all that it is built of, and run it by that:

  go get -tool github.com/goverbs/goverbs/gen
  go tool gen generate -header infiniband/mlx5dv.h -o ./mlx5dv

What is generated holds types, constants and layouts, and with -library a typed Go
function for each that the header itself declares and that library exports: it is
looked up and called when the program first calls it, without cgo. What a
member op of a struct points to is called by a method CallOp of it. How a C function tells that it failed, as by
NULL or by -1, is known of rdma-core's; of others, it is taken from the type of the
result: see package clib. That is a guess where it is an int, and those functions are
named. Functions that are inline in the header are not read. In package ibv of
` + verbs + `, the functions have small letters and a c in front,
cAllocPD, for the methods there to call.

The package has a comment that says what it was made of, unless there is a file of
yours beside it, such as doc.go, that has one.

  gen generate -header my.h -library libmy.so.1 -conventions my.txt -o ./my

A table of -conventions has a line for each function whose result does not say it,
and for the functions of a header that return an int. The indented lines below a
function give its parameters the enumerations that they hold:

  # a negative number, with the reason in errno: a file, say
  my_open minus
  # 0, or an errno value, its negative, or -1 and errno
  my_start errno
      flags my_flags
  # a negative errno value, or how many there are
  my_list count
  # NULL, with the reason in errno
  my_find null
  # it cannot fail: every number is a result
  my_version value
  # all others that return an int
  header my.h int errno

A call costs some hundred nanoseconds. Functions that -direct names are called for a
fraction of that: such that are short, do not block, do not call Go, take at most
six arguments, and leave no lock held. The collector waits for them.

What Go cannot express, such as a struct that is aligned to 64 bytes, is left out
and named on standard error: what has it as a member goes with it, and a pointer to
it becomes one to an opaque type. So is what the generator cannot lay out: atomic
and complex numbers, vectors, and functions with any of them; and functions with
structs by value, numbers in floating point or any number of arguments.

The C library's headers are not read, but stubs of them. One without a stub is to
be replaced by your own of that name, in a folder that -I names first.

Targets: the 64-bit ones of the system that the headers are of, unless -target
names some. If they are all of Linux's, other systems get the types of linux/amd64,
so that programs compile there, where no library is. Where musl lays out a type otherwise than glibc, on arm64, the build
tag musl selects it.

` + aboutStatus

func runGenerate(args []string, stdout io.Writer) error {
	var in input
	b, flags := in.bindingsFlags("generate", aboutGenerate)
	if err := parseFlags(flags, args, stdout); err != nil {
		return err
	}
	given := given(flags)
	if err := b.recall(flags); err != nil {
		return err
	}
	if err := b.check(in.header); err != nil {
		return err
	}
	if err := b.checkFolder(in.header, given); err != nil {
		return err
	}
	known, err := b.knownOf(in.header)
	if err != nil {
		return err
	}
	if err := b.checkOthers(); err != nil {
		return err
	}
	read, err := in.readForGo()
	if err != nil {
		return err
	}
	p, err := merge(known, read)
	if err != nil {
		return fmt.Errorf("%s was left as it is: %w%s", b.dir, err, howToGoOn(err))
	}
	from, err := b.importFor(in.header, p.facts)
	if err != nil {
		return err
	}
	files, err := b.goFiles(in.header, from, p.facts)
	if err != nil {
		return err
	}
	if err := b.write(stdout, in.header, named(in.header, read), p, files); err != nil {
		return err
	}
	b.reportUnbound(stdout, p, in.header, from)
	b.reportGuessed(stdout, in.header)
	return b.reportRedeclared(stdout, from, p.facts)
}

// howToGoOn tells what to do about constants that have other values now, for some are
// meant to grow from release to release.
func howToGoOn(err error) string {
	var conflict *abi.ConflictError
	if !errors.As(err, &conflict) || !slices.ContainsFunc(conflict.Changes, func(c abi.Change) bool { return c.Kind == abi.Renumbered }) {
		return ""
	}
	return "\nprograms may have been built with the old values; to take the new ones all the same, remove " + factsName + " there and generate the package anew"
}

// write writes the files that changed, and the facts when they did.
func (b *bindings) write(stdout io.Writer, header, named string, p *plan, files map[string][]byte) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return fmt.Errorf("making the folder of the Go package: %w", err)
	}
	written, err := b.writeGo(stdout, files)
	if err != nil {
		return err
	}
	changed, err := b.writeFacts(p)
	if err != nil {
		return err
	}
	switch {
	case len(files) == 0:
		fmt.Fprintf(stdout, "%s declares no types or numbers of its own: there is no Go to write\n", header)
	case p.first:
	case len(p.added) > 0:
		fmt.Fprintf(stdout, "%s adds:\n", named)
		reportAdded(stdout, p)
	default:
		fmt.Fprintf(stdout, "%s is covered\n", named)
	}
	if !written && !changed {
		fmt.Fprintf(stdout, "%s is up to date\n", b.dir)
	}
	return nil
}

// reportUnbound tells which functions of the header the package does not have, unless
// that was asked for. The methods of package ibv take the place of those of verbs.h.
func (b *bindings) reportUnbound(stdout io.Writer, p *plan, header string, from *gosrc.Import) {
	exported, inline := functions(p, header, abi.FunctionExtern), functions(p, header, abi.FunctionInline)
	switch {
	case b.unbound, header == verbs:
	case b.soname == "" && len(exported) > 0:
		fmt.Fprintf(stdout, "left out: the functions of %s (%d); -library is to name the library that exports them, such as libmlx5.so.1\n", header, len(exported))
	case b.soname != "" && len(inline) > 0:
		fmt.Fprintf(stdout, "left out: what is inline in %s, which no library exports (%d): %s\n", header, len(inline), strings.Join(inline, ", "))
	}
	if b.soname == "" || header == verbs {
		return
	}
	for _, other := range included(p, header, from) {
		if names := functions(p, other, abi.FunctionExtern); len(names) > 0 {
			fmt.Fprintf(stdout, "left out: the functions of %s (%d), which %s includes; a package of their own has them, with -header %s\n", other, len(names), header, other)
		}
	}
}

// included lists the headers that a header includes, but for those of the imported package.
func included(p *plan, header string, from *gosrc.Import) (names []string) {
	for _, facts := range p.facts {
		names = append(names, facts.Headers...)
	}
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return name == header || from != nil && slices.ContainsFunc(from.Facts, func(f *abi.Facts) bool { return f.Ships(name) })
	})
}

// reportGuessed tells which functions are called by a convention that is no more than
// the usual one.
func (b *bindings) reportGuessed(stdout io.Writer, header string) {
	if len(b.guessed) == 0 {
		return
	}
	fmt.Fprintf(stdout, "guessed: how functions that return an int tell that they failed, taken to be by a negative number, with the reason in errno (%d): %s; "+
		"-conventions is to name a file that says how, for each of them or all of %s: gen generate -h has its form\n",
		len(b.guessed), strings.Join(b.guessed, ", "), header)
}

// functions lists the functions of a kind that a header declares itself.
func functions(p *plan, header, kind string) (names []string) {
	for _, facts := range p.facts {
		for _, f := range facts.Functions {
			if f.Header == header && f.Kind == kind {
				names = append(names, f.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (b *bindings) writeGo(stdout io.Writer, files map[string][]byte) (written bool, err error) {
	for _, name := range sortedNames(files) {
		path := filepath.Join(b.dir, name)
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return written, fmt.Errorf("comparing with what is there: %w", err)
		}
		if err == nil && string(old) == string(files[name]) {
			continue
		}
		if err := replaceFile(path, files[name]); err != nil {
			return written, err
		}
		fmt.Fprintf(stdout, "%s written\n", path)
		written = true
	}
	old, err := b.leftovers(files)
	if err != nil {
		return written, err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return written, fmt.Errorf("removing a generated file that is not needed any more: %w", err)
		}
		fmt.Fprintf(stdout, "%s removed: its declarations are in the other files\n", path)
		written = true
	}
	return written, nil
}

func sortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
