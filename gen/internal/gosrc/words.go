package gosrc

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed words.txt
var wordsText string

// words is what C's types do not say of a declaration, in our words: what it
// means, which enumeration an integer holds, which member counts a list.
type words struct {
	text    map[string]string // by C name, or record.member
	enum    map[string]string // record.member to the enumeration's tag
	counted map[string]string // record.member to the counting member
	// pointer marks records of which the C library's type is a pointer.
	pointer map[string]bool
	// object marks records that the library makes, and that are no use as copies.
	object map[string]bool
	used   map[string]bool
}

// parseWords reads the table. An entry is a line with a C name (a tag, an
// enumerator, or record.member), perhaps followed by "enum TAG", "counted-by
// MEMBER", "by-pointer" or "object", and the indented lines below it are the
// description.
func parseWords(text string) (*words, error) {
	w := &words{text: map[string]string{}, enum: map[string]string{}, counted: map[string]string{}, pointer: map[string]bool{}, object: map[string]bool{}, used: map[string]bool{}}
	key := ""
	for i, line := range strings.Split(text, "\n") {
		switch {
		case strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#"):
		case line[0] == ' ' || line[0] == '\t':
			if key == "" {
				return nil, fmt.Errorf("words, line %d: a description of nothing", i+1)
			}
			w.text[key] = strings.TrimSpace(w.text[key] + " " + strings.TrimSpace(line))
		default:
			f := strings.Fields(line)
			key = f[0]
			if _, twice := w.text[key]; twice {
				return nil, fmt.Errorf("words, line %d: %s is described twice", i+1, key)
			}
			w.text[key] = ""
			switch {
			case len(f) == 1:
			case len(f) == 2 && f[1] == "by-pointer":
				w.pointer[key] = true
			case len(f) == 2 && f[1] == "object":
				w.object[key] = true
			case len(f) == 3 && f[1] == "enum":
				w.enum[key] = f[2]
			case len(f) == 3 && f[1] == "counted-by":
				w.counted[key] = f[2]
			default:
				return nil, fmt.Errorf("words, line %d: %q is neither a name, nor NAME enum TAG, nor NAME counted-by MEMBER, nor NAME by-pointer, nor NAME object", i+1, line)
			}
		}
	}
	return w, nil
}

// about is the description of a C name, with a space in front, or nothing. That
// of a type or a member goes on from its name.
func (w *words) about(key string) string {
	w.used[key] = true
	if t := w.text[key]; t != "" {
		return " " + t
	}
	return ""
}

// stale lists the entries that no declaration asked for.
func (w *words) stale() []string {
	var out []string
	for _, key := range sortedKeys(w.text) {
		if !w.used[key] {
			out = append(out, key)
		}
	}
	return out
}
