package gosrc

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

//go:embed conventions.txt
var conventionsText string

//go:embed conventions_more.txt
var moreConventionsText string

// convention is how a C function tells that it failed.
type convention string

const (
	null    convention = "null"
	errno   convention = "errno"
	minus   convention = "minus"
	count   convention = "count"
	plain   convention = "value"
	text    convention = "text"
	nothing convention = "void"
)

// conventions is what C's prototypes do not say of functions.
type conventions struct {
	of   map[string]convention // by C name, or record.member
	ints map[string]convention // of the functions of a header that return an int
	// enums has the enumeration that an integer holds, by function and parameter.
	enums map[string]map[string]string
	lines map[string]string // where the entries are: FILE:LINE
	used  map[string]bool
	own   []string // the entries of the user's own tables
}

// Conventions is a table of the user's own, for functions that the built-in tables
// do not know or that are to be called otherwise. Its form is theirs.
type Conventions struct {
	File string // its name, for errors
	Text string
}

func noConventions() *conventions {
	return &conventions{of: map[string]convention{}, ints: map[string]convention{}, enums: map[string]map[string]string{}, lines: map[string]string{}, used: map[string]bool{}}
}

// newConventions reads the built-in tables and the user's, which come first.
func newConventions(own []Conventions) (*conventions, error) {
	c := noConventions()
	for _, t := range []Conventions{{"conventions.txt", conventionsText}, {"conventions_more.txt", moreConventionsText}} {
		if err := c.read(t, false); err != nil {
			return nil, err
		}
	}
	for _, t := range own {
		if err := c.read(t, true); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// read reads a table. An entry is a line with a C name (a function,
// or record.member) and a convention, and the indented lines below it have a
// parameter and the enumeration's tag. A line "header NAME int CONVENTION" is for
// the functions of a header that have no entry.
func (c *conventions) read(table Conventions, own bool) error {
	key := ""
	here := map[string]bool{}
	for i, line := range strings.Split(table.Text, "\n") {
		f := strings.Fields(line)
		at := fmt.Sprintf("%s:%d", table.File, i+1)
		refuse := func(format string, args ...any) error {
			return fmt.Errorf("%s: %s", at, fmt.Sprintf(format, args...))
		}
		switch {
		case len(f) == 0 || f[0][0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if key == "" || len(f) != 2 {
				return refuse("%q is not PARAMETER ENUM below a function", strings.TrimSpace(line))
			}
			if c.enums[key] == nil {
				c.enums[key] = map[string]string{}
			}
			c.enums[key][f[0]] = f[1]
		case f[0] == "header" && len(f) == 4 && f[2] == "int" && isOf(f[3], errno, minus, count, plain):
			c.ints[f[1]], key = convention(f[3]), ""
		case len(f) == 2 && isOf(f[1], null, errno, minus, count, plain, text, nothing):
			key = f[0]
			if _, known := c.of[key]; here[key] || known && !own {
				return refuse("%s has a convention already", key)
			}
			here[key] = true
			c.of[key], c.lines[key] = convention(f[1]), at
			delete(c.enums, key) // of the entry that this one takes the place of
			if own {
				c.own = append(c.own, key)
			}
		default:
			return refuse("%q is neither NAME CONVENTION nor header NAME int CONVENTION", strings.TrimSpace(line))
		}
	}
	return nil
}

func isOf(word string, some ...convention) bool { return slices.Contains(some, convention(word)) }

// find is the convention of a function with a result type, of a header.
func (c *conventions) find(key, header string, result *abi.Type) (convention, error) {
	c.used[key] = true
	how, listed := c.of[key]
	if !listed {
		return c.usual(header, result), nil
	}
	fits := false
	switch how {
	case null:
		fits = isAddress(result)
	case errno:
		fits = result.Kind == abi.Int && result.Size == 4
	case minus, count:
		// An unsigned one, such as a size_t, is read as if it had a sign.
		fits = (result.Kind == abi.Int || result.Kind == abi.Uint) && (result.Size == 4 || result.Size == 8)
	case text:
		fits = isText(result)
	case nothing:
		fits = result.Kind == abi.Void
	case plain:
		fits = result.Kind != abi.Void
	}
	if !fits {
		return "", fmt.Errorf("%s: %s cannot have the convention %s: it returns %s", c.lines[key], key, how, result)
	}
	return how, nil
}

// usual is the convention of functions that have no entry.
func (c *conventions) usual(header string, result *abi.Type) convention {
	switch {
	case result.Kind == abi.Void:
		return nothing
	case isText(result):
		return text
	case isAddress(result):
		return null
	case result.Kind == abi.Int && result.Name == "ssize_t":
		return count
	case result.Kind == abi.Int && result.Size == 4 && c.ints[header] != "":
		return c.ints[header]
	case result.Kind == abi.Int && result.Size == 4:
		return minus
	}
	return plain
}

// guesses reports whether nothing is known of how a function tells that it failed: it
// returns an int, and its header has no entry either.
func (c *conventions) guesses(key, header string, result *abi.Type) bool {
	_, listed := c.of[key]
	return !listed && c.usual(header, result) == minus && c.ints[header] == ""
}

// stale lists the entries of the user's own tables that no function asked for.
func (c *conventions) stale() []string {
	var out []string
	for _, key := range c.own {
		if !c.used[key] {
			out = append(out, key)
		}
	}
	return out
}

func isAddress(t *abi.Type) bool { return t.Kind == abi.Pointer || t.Kind == abi.FuncPtr }

// isText reports whether a result is a constant string.
func isText(t *abi.Type) bool {
	return t.Kind == abi.Pointer && t.Elem.Kind == abi.Char && t.Elem.Const
}
