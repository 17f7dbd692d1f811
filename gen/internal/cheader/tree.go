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
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"

	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/headers"
)

// root is the folder under which the C front end sees every header.
const root = "include"

// tree is the file system that the C front end sees: the stub system headers,
// and behind them the include folders of the user.
type tree struct {
	stubs fs.FS
	dirs  []string
	// whole asks for the header of which the stubs have a part, and part tells
	// that it was read.
	whole, part bool
	read        map[string]bool
	// folders are what was asked for as a header and is none, with their paths.
	folders map[string]string
	// marked asks for marks before the braces, bodies for headers without those.
	marked  bool
	bodies  bodies
	pragmas []string // that change what stands behind them
	includes
	renumbered
}

func newTree(dirs []string) *tree {
	return &tree{stubs: headers.Stubs(), dirs: dirs, read: map[string]bool{}, folders: map[string]string{}, includes: includes{once: map[string]bool{}, parents: map[string]string{}}}
}

// again is the same tree, of which nothing was read yet.
func (t *tree) again() *tree {
	tree := newTree(t.dirs)
	tree.whole = t.whole
	return tree
}

// Open opens root/NAME from the stubs or else from the include folders.
func (t *tree) Open(name string) (fs.File, error) {
	header, ok := strings.CutPrefix(path.Clean(name), root+"/")
	if !ok || !fs.ValidPath(header) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	t.part = t.part || header == partial
	if f, err := t.stubs.Open(header); err == nil && (header != partial || !t.whole) {
		return f, nil
	}
	for _, dir := range t.dirs {
		place := filepath.Join(dir, filepath.FromSlash(header))
		text, err := readRegular(place)
		switch {
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue
		case errors.Is(err, syscall.EISDIR): // C compilers look on, too
			t.folders[header] = place
			continue
		case err != nil:
			t.refused = err
			return nil, err
		}
		t.read[header] = true
		text, err = spelled(header, text)
		if err != nil {
			t.refused = err
			return nil, err
		}
		if t.marked {
			text = mark(len(t.names), text)
		} else if t.bodies != nil {
			text = t.bodies.empty(header, text)
		}
		text = t.follow(header, t.withoutLines(text))
		return &file{Reader: bytes.NewReader(text), name: header, size: int64(len(text))}, nil
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// pragma refuses the pragmas that change a layout in ways that are not followed
// here. The front end knows #pragma pack.
func (t *tree) pragma(words []cc.Token) error {
	if len(words) == 0 {
		return nil
	}
	switch name := words[0].SrcStr(); {
	case name == "scalar_storage_order" && (len(words) < 2 || words[1].SrcStr() != "default"), name == "ms_struct":
		at := words[0].Position()
		at.Filename = strings.TrimPrefix(at.Filename, root+"/")
		t.refused = fmt.Errorf("%v: pragma %s is not supported", at, name)
		return t.refused
	case name == imported:
		t.refused = fmt.Errorf("%s: #import is not supported; write #include, and #pragma once in the header", strings.TrimPrefix(words[0].Position().String(), root+"/"))
		return t.refused
	case name == "pack", name == "once":
		t.pragmas = append(t.pragmas, sourceOf(words))
	}
	return t.includes.pragma(words)
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
		text = plain(text, src.Header)
		return fmt.Errorf("parsing %s for %s: %s%s", src.Header, target, t.quoting(text), t.ofTheCLibrary(text))
	}
	if place := t.folders[m[1]]; place != "" {
		return fmt.Errorf("parsing %s for %s: %s is a folder, not a header; name a header in it", src.Header, target, place)
	}
	missing := &MissingHeaderError{Header: m[1], Wanted: src.Header, Searched: t.dirs}
	if advice := t.ofTheCLibrary(text); advice != "" {
		return fmt.Errorf("parsing %s for %s: %s%s", src.Header, target, missing.what(), advice)
	}
	return missing
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
		if strings.HasPrefix(line, "<"+header+">:") && !strings.HasPrefix(line, "<"+header+">:1:") { // what stands behind it
			line = header + ": it ends in the middle of a declaration"
		}
		if strings.Contains(line, "conflicting attributes") {
			line = header + ": a type with an alignment is given another one, which is not supported"
		}
		if !slices.Contains(lines, line) && !strings.HasPrefix(line, "TODO ") && !strings.Contains(line, "internal error") {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return text
	}
	return strings.Join(lines, "\n")
}

// messagePosition is the file and the line at the start of a message.
var messagePosition = regexp.MustCompile(`^([^:\n]+):(\d+):\d+: [^\n]*`)

// quoting adds the line of the header that the first message is about.
func (t *tree) quoting(text string) string {
	m := messagePosition.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	number, err := strconv.Atoi(m[2])
	if err != nil {
		return text
	}
	lines := strings.Split(string(t.text(m[1])), "\n")
	if number < 1 || number > len(lines) || !t.read[m[1]] {
		return text
	}
	line := strings.TrimSpace(lines[number-1])
	if len(line) > 200 {
		line = line[:200] + "…"
	}
	return m[0] + "\n\t" + line + text[len(m[0]):]
}

// libcSign is in the headers of C libraries, which are written for one compiler and
// one processor.
var libcSign = regexp.MustCompile(`(?m)^[ \t]*#[ \t]*include[ \t]*<(features\.h|sys/cdefs\.h|bits/.*)>`)

// ofTheCLibrary says what to do if the first message is about a header of the C
// library, and is empty if it is not. The one to replace is that which a header of
// another kind includes.
func (t *tree) ofTheCLibrary(text string) string {
	m := messagePosition.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	header, by := "", m[1]
	for by != "" && (strings.HasPrefix(by, "bits/") || libcSign.Match(t.text(by))) {
		header, by = by, t.parents[by]
	}
	if header == "" || by == "" {
		return ""
	}
	return fmt.Sprintf("\n%s is the C library's own, made for its compiler, and the generator has no stub for it; %s, before %s",
		header, ownHeader(header, by), t.folderOf(header))
}

// ownHeader is the advice to replace a header of the C library.
func ownHeader(header, by string) string {
	return fmt.Sprintf("write your own %s that declares what %s takes from it, which may be nothing, and name its folder with -I", header, by)
}

// folderOf is the include folder that a header is in, or "".
func (t *tree) folderOf(header string) string {
	for _, dir := range t.dirs {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(header))); err == nil {
			return dir
		}
	}
	return ""
}

// text is the text of a header that was read from the include folders.
func (t *tree) text(header string) []byte {
	if !t.read[header] {
		return nil
	}
	text, _ := readRegular(filepath.Join(t.folderOf(header), filepath.FromSlash(header)))
	return text
}

// MissingHeaderError says that a header is not in any include folder.
type MissingHeaderError struct {
	Header   string   // the one that was not found
	Wanted   string   // the one that was to be read
	Searched []string // the include folders
}

// what is the error without advice.
func (e *MissingHeaderError) what() string {
	needs := ""
	if e.Header != e.Wanted {
		needs = fmt.Sprintf(", which %s needs,", e.Wanted)
	}
	return fmt.Sprintf("%s%s was not found in %s", e.Header, needs, strings.Join(e.Searched, ", "))
}

func (e *MissingHeaderError) Error() string {
	text := e.what() + "; "
	packages, known := headers.Packages(e.Header)
	switch {
	case known:
		return text + "it comes with: " + packages + "; or name its folder with -I"
	case strings.HasPrefix(e.Header, "infiniband/"):
		return text + "no package is known to have it; rdma-core's headers come with: " + packages + "; check its name, or name its folder with -I"
	case packages != "":
		return text + "if the kernel has it, it comes with: " + packages + "; or name its folder with -I"
	}
	text += "it is a header of neither RDMA software nor the kernel, and the generator has no stub for it; name its folder with -I"
	if e.Header == e.Wanted {
		return text
	}
	return text + "; if it is the C library's, " + ownHeader(e.Header, e.Wanted)
}

// Is makes the error one of fs.ErrNotExist.
func (e *MissingHeaderError) Is(target error) bool { return target == fs.ErrNotExist }
