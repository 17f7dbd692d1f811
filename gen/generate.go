package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"

	"github.com/goverbs/goverbs/gen/internal/gosrc"
)

const aboutGenerate = `Reads a header for all targets and writes Go: zz_generated.go with what is the
same everywhere, and zz_generated_OS_ARCH.go with what differs. Each struct has
C's size, alignment and offsets, and the files hold assertions that make the Go
compiler refuse them if it were not so. The output depends on the headers alone:
no C compiler is asked, and every machine writes the same bytes.`

// output is where Go is written to, and how.
type output struct {
	dir, pkg string
}

func (in *input) outputFlags(name, about string) (*output, func(args []string) error) {
	out := &output{}
	fs := newFlags(name, about, in)
	fs.StringVar(&out.dir, "o", ".", "the `folder` of the Go package")
	fs.StringVar(&out.pkg, "package", "ibv", "the `name` of the Go package")
	return out, func(args []string) error { return parseFlags(fs, args) }
}

func runGenerate(args []string, stdout io.Writer) error {
	var in input
	out, parse := in.outputFlags("generate", aboutGenerate)
	if err := parse(args); err != nil {
		return err
	}
	files, err := in.goFiles(out)
	if err != nil {
		return err
	}
	for _, name := range sortedNames(files) {
		path := filepath.Join(out.dir, name)
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err == nil && string(old) == string(files[name]) {
			fmt.Fprintf(stdout, "%s is up to date\n", path)
			continue
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "%s written\n", path)
	}
	return nil
}

// goFiles is the Go that the headers give, by file name.
func (in *input) goFiles(out *output) (map[string][]byte, error) {
	all, err := in.read()
	if err != nil {
		return nil, err
	}
	command := fmt.Sprintf("gen generate -header %s -package %s", in.header, out.pkg)
	for _, t := range in.targets {
		command += " -target " + t
	}
	return gosrc.Generate(all, gosrc.Options{Package: out.pkg, Command: command})
}

func sortedNames(files map[string][]byte) []string {
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
