package headers

import (
	_ "embed"
	"fmt"
	"iter"
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
	for line := range t.section(predefinedTable) {
		name, value, _ := strings.Cut(line, " ")
		macros[name] = value
	}
	return macros
}

// section goes through the lines of a table that are for the target.
func (t Target) section(table string) iter.Seq[string] {
	return func(yield func(line string) bool) {
		wanted := false
		for line := range strings.Lines(table) {
			line = strings.TrimRight(line, "\n")
			if head, ok := strings.CutPrefix(line, "["); ok {
				wanted = slices.ContainsFunc(strings.Fields(strings.TrimSuffix(head, "]")), func(who string) bool {
					return who == "every" || who == t.OS || who == t.Arch || who == t.Libc
				})
				continue
			}
			if wanted && line != "" && !yield(line) {
				return
			}
		}
	}
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
	// In two steps, so that what is asked for may be a macro, as gcc has it.
	b.WriteString("#define __has_attribute(name) __stub_has_attribute(name)\n")
	b.WriteString("#define __stub_has_attribute(name) __has_builtin(" + attributePrefix + "##name)\n")
	// The C libraries' headers define it; defined here, it is no fact of a header.
	def("__WORDSIZE", 8*machines[t.Arch].pointer)
	def("__STUB_"+strings.ToUpper(t.Libc), 1)
	e := t.embedded()
	if t.Libc == "freebsd" {
		def("__STUB_PTHREAD_POINTERS", 1)
	}
	def("__STUB_PTHREAD_MUTEX_SIZE", e.mutex)
	def("__STUB_PTHREAD_COND_SIZE", e.cond)
	def("__STUB_PTHREAD_COND_ALIGN", e.condAlign)
	def("__STUB_PTHREAD_ATTR_SIZE", e.thread)
	def("__STUB_PTHREAD_KIND_SIZE", e.kind)
	def("__STUB_TIME_SIZE", e.time)
	return b.String()
}
