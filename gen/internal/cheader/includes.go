package cheader

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// includes follows which header includes which: the C front end would read one
// that includes itself for ever.
type includes struct {
	from    map[string][]string // of a header without a guard, what it includes
	refused error
}

var (
	spliced     = regexp.MustCompile(`\\\r?\n`)
	comment     = regexp.MustCompile(`(?s)/\*.*?\*/|//[^\n]*`)
	includeLine = regexp.MustCompile(`(?m)^[ \t\f\v]*(?:#|%:)[ \t\f\v]*(?:include|include_next|import)\b[ \t\f\v]*([^\r\n]*)`)
	guard       = regexp.MustCompile(`^\s*#\s*(?:ifndef\s+|if\s*!\s*defined\s*\(?\s*)(\w+)\s*\)?\s*\n\s*#\s*define\s+(\w+)`)
)

// follow takes the text of a header. It is an error if the header could include
// itself.
func (i *includes) follow(header, text string) error {
	text = comment.ReplaceAllString(spliced.ReplaceAllString(text, ""), " ")
	guarded := false
	if m := guard.FindStringSubmatch(text); m != nil && m[1] == m[2] {
		guarded = !regexp.MustCompile(`#\s*undef\s+` + m[1] + `\b`).MatchString(text)
	}
	for _, m := range includeLine.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSpace(m[1])
		end := strings.IndexAny(strings.TrimLeft(name, "<\""), ">\"")
		if end < 0 || name[0] != '<' && name[0] != '"' {
			i.refused = fmt.Errorf("%s: #include %s: only a header's name can be followed", header, name)
			return i.refused
		}
		if target := name[1 : end+1]; !guarded {
			i.from[header] = append(i.from[header], path.Clean(target), path.Join(path.Dir(header), target))
		}
	}
	if i.reaches(header, header, map[string]bool{}) {
		i.refused = fmt.Errorf("%s includes itself, directly or by way of another header, and has no include guard", header)
	}
	return i.refused
}

// reaches reports whether a header includes another one without a guard that
// would end it.
func (i *includes) reaches(from, to string, seen map[string]bool) bool {
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(i.from[from], func(next string) bool { return next == to || i.reaches(next, to, seen) })
}
