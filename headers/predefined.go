package headers

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed predefined.txt
var predefinedTable string

// Macros are the macros that gcc defines for the target before it reads
// anything, by name; the name of a function-like macro includes its parameters.
func (t Target) Macros() map[string]string {
	macros := map[string]string{}
	wanted := false
	for line := range strings.Lines(predefinedTable) {
		line = strings.TrimRight(line, "\n")
		if head, ok := strings.CutPrefix(line, "["); ok {
			for _, who := range strings.Fields(strings.TrimSuffix(head, "]")) {
				if wanted = who == "every" || who == t.OS || who == t.Arch || who == t.Libc; wanted {
					break
				}
			}
			continue
		}
		if wanted && line != "" {
			name, value, _ := strings.Cut(line, " ")
			macros[name] = value
		}
	}
	return macros
}

// Predefined is the text that the target's headers are read behind: the macros
// of its C compiler, and what the stub system headers ask for.
func (t Target) Predefined() string {
	var b strings.Builder
	def := func(name string, value any) { fmt.Fprintf(&b, "#define %s %v\n", name, value) }
	macros := t.Macros()
	for _, name := range slices.Sorted(maps.Keys(macros)) {
		def(name, macros[name])
	}
	// C23's form without a message, which compilers take in older C too.
	b.WriteString("#define _Static_assert(condition, ...) _Static_assert(condition, \"\" __VA_ARGS__)\n")
	// The C libraries' headers define it; defined here, it is no fact of a header.
	def("__WORDSIZE", 8*machines[t.Arch].pointer)
	e := t.embedded()
	if t.Libc == "freebsd" {
		def("__STUB_PTHREAD_POINTERS", 1)
	}
	def("__STUB_PTHREAD_MUTEX_SIZE", e.mutex)
	def("__STUB_PTHREAD_COND_SIZE", e.cond)
	def("__STUB_PTHREAD_COND_ALIGN", e.condAlign)
	def("__STUB_TIME_SIZE", e.time)
	return b.String()
}
