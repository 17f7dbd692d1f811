// Verbsdoc writes docs/verbs.md, which says for each function, inline function and function-like macro of verbs.h what
// does the same in Go:
//
//	go run ./ibv/internal/verbsdoc                fails if one is not dealt with, or wrongly, and says which
//	go run ./ibv/internal/verbsdoc -o FILE        writes the page; what is not done yet is in it, too
//
// What C has comes from the facts beside package ibv's generated files: all releases, and FreeBSD. What Go has comes from
// the last line of its doc comments, "C: " and C's names. What Go leaves out is in leftout.txt, each with its reason.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "verbsdoc:", err)
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("verbsdoc", flag.ContinueOnError)
	out := flags.String("o", "", "the `file` to write")
	dir := flags.String("ibv", "", "the `folder` of package ibv (default: here, or ibv)")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *dir == "" {
		*dir = "."
		if _, err := os.Stat(filepath.Join(*dir, factsName)); err != nil {
			*dir = "ibv"
		}
	}
	page, err := pageOf(*dir)
	if err != nil {
		return err
	}
	wrong, missing := page.problems()
	if len(wrong) > 0 || *out == "" && len(missing) > 0 {
		return errors.Join(slices.Concat(wrong, missing)...)
	}
	if *out == "" {
		_, err := fmt.Fprintf(stdout, "all %d are dealt with\n", len(page.rows))
		return err
	}
	// Headers of a new release do not stop who generates: the tests tell who works on this package.
	for _, err := range missing {
		fmt.Fprintln(stderr, "verbsdoc:", err)
	}
	text := page.markdown()
	if have, err := os.ReadFile(*out); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(*out), 0o755); err != nil {
		return err
	}
	return os.WriteFile(*out, text, 0o644)
}
