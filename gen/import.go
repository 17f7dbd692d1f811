package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/gosrc"
)

const (
	verbs         = "infiniband/verbs.h"
	defaultImport = "github.com/goverbs/goverbs/ibv"
	noImport      = "none"
)

// importFor finds the package that has the declarations of infiniband/verbs.h,
// for a header that includes it.
func (b *bindings) importFor(header string, all []*abi.Facts) (*gosrc.Import, error) {
	name := b.imported
	if name == "" && header != verbs && slices.ContainsFunc(all, func(f *abi.Facts) bool { return f.Ships(verbs) }) {
		name = defaultImport
	}
	if name == "" || name == noImport {
		return nil, nil
	}
	from, err := goPackage(name, b.dir)
	if err != nil {
		return nil, fmt.Errorf("looking for the package whose types to use: %w; go get %s where it is to be used, or declare all types anew with -import %s", err, name, noImport)
	}
	from.Facts, err = abi.ReadFiles(filepath.Join(from.dir, factsName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("using the types of %s: gen generate has written no %s into %s", name, factsName, from.dir)
	case err != nil:
		return nil, fmt.Errorf("using the types of %s: %w", name, err)
	case len(from.Facts) == 0 || from.Facts[0].Header != verbs:
		return nil, fmt.Errorf("using the types of %s: it was generated from another header than %s", name, verbs)
	}
	return &from.Import, nil
}

// mostNamed is how many names a line of a report has.
const mostNamed = 5

// reportRedeclared tells what the package does not share with the one that it
// imports: its values do not go where that one's types are wanted.
func (b *bindings) reportRedeclared(w io.Writer, from *gosrc.Import, all []*abi.Facts) error {
	if from == nil {
		return nil
	}
	found, err := from.Redeclared(all, b.soname != "")
	if err != nil {
		return err
	}
	read := verbs
	if all[0].Version != "" {
		read += " " + all[0].Version
	}
	reportNames(w, found.Otherwise, fmt.Sprintf("the %s that was read has them otherwise than %s (%s)", read, from.Name, release(from.Facts)))
	reportNames(w, found.InUnion, "they stand in a union here, which Go's collector does not look into")
	return nil
}

// reportNames tells why the types and values of these names are declared anew.
func reportNames(w io.Writer, names []string, why string) {
	if len(names) == 0 {
		return
	}
	list := strings.Join(names[:min(mostNamed, len(names))], ", ")
	if len(names) > mostNamed {
		list += ", …"
	}
	fmt.Fprintf(w, "%d declared anew, because %s: %s\n", len(names), why, list)
}

// located is a package and the folder that it is in.
type located struct {
	gosrc.Import
	dir string
}

// goPackage asks the go command for a package, as code in a folder imports it.
// The folder need not be there yet.
func goPackage(name, from string) (*located, error) {
	from, err := filepath.Abs(from)
	if err != nil {
		return nil, err
	}
	for info, err := os.Stat(from); err != nil || !info.IsDir(); info, err = os.Stat(from) {
		from = filepath.Dir(from)
	}
	list := exec.Command("go", "list", "-e", "-find", "-f", "{{.ImportPath}}\n{{.Name}}\n{{.Dir}}\n{{with .Error}}{{.Err}}{{end}}", "--", name)
	var stderr bytes.Buffer
	list.Dir, list.Stderr = from, &stderr
	out, err := list.Output()
	if err != nil {
		return nil, fmt.Errorf("go list %s in %s: %w: %s", name, from, err, strings.TrimSpace(stderr.String()))
	}
	lines := strings.SplitN(string(out), "\n", 4)
	if len(lines) < 4 || lines[2] == "" {
		return nil, fmt.Errorf("go list %s in %s: %s", name, from, strings.TrimSpace(strings.Join(lines[min(3, len(lines)):], " ")))
	}
	return &located{gosrc.Import{Path: lines[0], Name: lines[1]}, lines[2]}, nil
}
