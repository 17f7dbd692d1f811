package ibv

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// providers says which providers there are: those that a file names, of which
// some may be missing.
func (h host) providers() string {
	names, folder := providerPlaces(h.library())
	files, _ := filepath.Glob(filepath.Join(names, "*"))
	if len(files) == 0 {
		return fmt.Sprintf(" (%s names none)", names)
	}
	var there, missing []string
	for _, file := range files {
		name, ok := strings.CutPrefix(firstLine(file), "driver ")
		if !ok {
			continue
		}
		name = strings.TrimSpace(name)
		path := filepath.Join(folder, "lib"+name)
		if filepath.IsAbs(name) {
			path = name
		}
		libraries, _ := filepath.Glob(path + "-rdmav*.so")
		if folder != "" && len(libraries) == 0 {
			missing = append(missing, name)
		} else {
			there = append(there, name)
		}
	}
	text := fmt.Sprintf(" (%s names %s", names, list(there))
	if len(missing) > 0 {
		text += fmt.Sprintf("; %s is without the libraries of %s", folder, list(missing))
	}
	return text + ")"
}

// providerPlaces is the folders that a libibverbs was built to have the names of its
// providers and their libraries in. They are in its file, and nothing else knows them:
// a copy of it elsewhere still looks there.
func providerPlaces(library string) (names, folder string) {
	names = "/etc/libibverbs.d" // most systems'
	content, err := os.ReadFile(library)
	if err != nil {
		return names, ""
	}
	for text := range bytes.SplitSeq(content, []byte{0}) {
		if !bytes.HasPrefix(text, []byte("/")) {
			continue
		}
		if bytes.HasSuffix(text, []byte("/libibverbs.d")) {
			names = string(text)
		}
		if before, _, is := bytes.Cut(text, []byte("/lib%s-rdmav")); is {
			folder = string(before)
		}
	}
	return names, folder
}

// list is some names, sorted.
func list(names []string) string {
	if len(names) == 0 {
		return "none that is there"
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}
