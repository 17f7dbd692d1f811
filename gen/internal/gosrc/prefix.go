package gosrc

import (
	"path"
	"slices"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// verbsPrefix is what the names of infiniband/verbs.h start with. It is dropped in
// every package, because every header of rdma-core uses these names.
const verbsPrefix = "ibv"

// Prefixes finds what a header's own names start with because C has no packages:
// whole words in small letters, the one that is the header's name first. They
// are words that more than half of the header's functions, of its types or of its
// enumerators start with, the beginning of such a word, as mlx5 is of mlx5dv, and
// what ends with one, as ibmad does with mad. There may be none.
func Prefixes(targets []*abi.Facts) []string {
	count := map[string]int{}
	most := map[string]bool{}
	for _, f := range targets {
		for _, names := range ownNames(f) {
			carried := map[string]int{}
			for _, name := range names {
				if p := prefixOf(name, baseOf(f)); p != "" {
					carried[p]++
				}
			}
			for p, n := range carried {
				count[p] += n
				most[p] = most[p] || n >= fewest && 2*n > len(names)
			}
		}
	}
	delete(most, verbsPrefix)
	var found []string
	for _, p := range sortedKeys(count) {
		related := func(word string) bool {
			return most[word] && (most[p] || count[p] >= fewest && p != verbsPrefix && (strings.HasPrefix(word, p) || strings.HasSuffix(p, word)))
		}
		if slices.ContainsFunc(sortedKeys(most), related) {
			found = append(found, p)
		}
	}
	slices.SortStableFunc(found, func(a, b string) int {
		switch base := baseOf(targets[0]); base {
		case a:
			return -1
		case b:
			return 1
		}
		return count[b] - count[a]
	})
	return found
}

// fewest is how many names make a prefix: two may start alike by chance.
const fewest = 3

// baseOf is the name of a header, without its folder and ending.
func baseOf(f *abi.Facts) string {
	return strings.ToLower(strings.TrimSuffix(path.Base(f.Header), ".h"))
}

// ownNames lists what a header declares itself: its functions, its types and its
// enumerators. Macros do not count, for theirs are often prefixes of a group.
func ownNames(f *abi.Facts) [3][]string {
	var functions, types, enumerators []string
	for _, fn := range f.Functions {
		if fn.Header == f.Header {
			functions = append(functions, fn.Name)
		}
	}
	for _, r := range f.Records {
		if r.Header == f.Header {
			types = append(types, r.Name)
		}
	}
	for _, e := range f.Enums {
		if e.Header != f.Header {
			continue
		}
		if e.Name != "" {
			types = append(types, e.Name)
		}
		for _, en := range e.Enumerators {
			enumerators = append(enumerators, en.Name)
		}
	}
	return [3][]string{functions, types, enumerators}
}

// prefixOf is the first word of a C name, with as many of the next ones as the
// header's own name has in these places, or "" for a name of one word.
func prefixOf(c, header string) string {
	c = strings.ToLower(strings.TrimLeft(c, "_"))
	if rest, ok := strings.CutPrefix(c, header+"_"); ok && rest != "" {
		return header
	}
	first, rest, _ := strings.Cut(c, "_")
	if rest == "" {
		return ""
	}
	return first
}
