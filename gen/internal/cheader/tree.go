package cheader

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"github.com/goverbs/goverbs/headers"
)

// root is the folder under which the C front end sees every header.
const root = "include"

// tree is the file system that the C front end sees: the stub system headers,
// and behind them the include folders of the user.
type tree struct {
	stubs fs.FS
	dirs  []string
	read  map[string]bool
	includes
}

func newTree(dirs []string) *tree {
	return &tree{stubs: headers.Stubs(), dirs: dirs, read: map[string]bool{}, includes: includes{from: map[string][]string{}}}
}

// Open opens root/NAME from the stubs or else from the include folders.
func (t *tree) Open(name string) (fs.File, error) {
	header, ok := strings.CutPrefix(path.Clean(name), root+"/")
	if !ok || !fs.ValidPath(header) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	if f, err := t.stubs.Open(header); err == nil {
		return f, nil
	}
	for _, dir := range t.dirs {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(header)))
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				return nil, err
			}
			continue
		}
		t.read[header] = true
		if err := t.follow(header, string(text)); err != nil {
			return nil, err
		}
		return &file{Reader: bytes.NewReader(text), name: header, size: int64(len(text))}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// shipped lists the headers that were read, the stubs left out.
func (t *tree) shipped() []string {
	names := make([]string, 0, len(t.read))
	for name := range t.read {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

var notFound = regexp.MustCompile(`include file not found: [<"]([^>"]+)[>"]`)

// explain turns the front end's error into one that says what to do.
func (t *tree) explain(src Source, target headers.Target, err error) error {
	text := strings.ReplaceAll(err.Error(), root+"/", "")
	if t.refused != nil {
		return fmt.Errorf("parsing %s for %s: %w", src.Header, target, t.refused)
	}
	m := notFound.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("parsing %s for %s: %s", src.Header, target, plain(text, src.Header))
	}
	return &MissingHeaderError{Header: m[1], Wanted: src.Header, Searched: t.dirs}
}

// internal is what the front end adds for its own developers.
var internal = regexp.MustCompile(`(?m) \([a-z]+\.go:[^)]*\)$`)

// plain makes the front end's messages readable: what is for its developers is
// left out, and so is what only follows from another message.
func plain(text, header string) string {
	var lines []string
	for _, line := range strings.Split(internal.ReplaceAllString(text, ""), "\n") {
		if rest, ok := strings.CutPrefix(line, "-: "); ok {
			line = header + ": " + rest
		}
		if strings.Contains(line, "conflicting attributes") {
			line = header + ": a type with an alignment is given another one, which is not supported"
		}
		if !strings.HasPrefix(line, "TODO ") && !strings.Contains(line, "internal error") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text
	}
	return strings.Join(lines, "\n")
}

// MissingHeaderError says that a header is not in any include folder.
type MissingHeaderError struct {
	Header   string   // the one that was not found
	Wanted   string   // the one that was to be read
	Searched []string // the include folders
}

func (e *MissingHeaderError) Error() string {
	return fmt.Sprintf("%s was not found in %s; it comes with: %s; or name its folder with -I",
		e.Header, strings.Join(e.Searched, ", "), headers.Packages(e.Header))
}

// Is makes the error one of fs.ErrNotExist.
func (e *MissingHeaderError) Is(target error) bool { return target == fs.ErrNotExist }
