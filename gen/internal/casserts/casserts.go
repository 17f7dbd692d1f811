// Package casserts writes the model of package abi as C: a file of static
// assertions that any C compiler can check against the headers themselves.
package casserts

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// Write writes the assertions for everything that facts say of the headers in
// facts.Headers.
func Write(w io.Writer, facts *abi.Facts) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "/* What the Go bindings were told of %s on %s/%s (%s). It compiles exactly\n"+
		" * when the C compiler says the same. */\n#include <stddef.h>\n#include <%s>\n\n",
		facts.Header, facts.GOOS, facts.GOARCH, facts.Libc, facts.Header)
	assert := func(what, expression string, want any) {
		fmt.Fprintf(out, "_Static_assert((%s) == %v, \"%s\");\n", expression, want, what)
	}
	shipped := map[string]bool{}
	for _, h := range facts.Headers {
		shipped[h] = true
	}
	for _, r := range facts.Records {
		if shipped[r.Header] && !r.Opaque {
			record(assert, r)
		}
	}
	for _, e := range facts.Enums {
		if shipped[e.Header] {
			enum(assert, e)
		}
	}
	for _, m := range facts.Macros {
		if shipped[m.Header] {
			assert(m.Name, m.Name, number(m.Value))
		}
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing assertions: %w", err)
	}
	return nil
}

func record(assert func(what, expression string, want any), r *abi.Record) {
	name := string(r.Kind) + " " + r.Name
	if r.Typedef {
		name = r.Name
	}
	assert("size of "+name, "sizeof("+name+")", r.Size)
	assert("alignment of "+name, "_Alignof("+name+")", r.Align)
	for _, l := range r.Flat {
		if l.BitSize != nil || l.Path == "" || strings.HasSuffix(l.Path, ".") {
			continue // C has no offset of a bit-field or of what has no name
		}
		place := name + ", " + l.Path
		assert("offset of "+place, "offsetof("+place+")", l.Offset)
		if l.Size > 0 {
			assert("size of "+place, "sizeof((("+name+" *)0)->"+l.Path+")", l.Size)
		}
	}
}

func enum(assert func(what, expression string, want any), e *abi.Enum) {
	if e.Name != "" {
		name := "enum " + e.Name
		if e.Typedef {
			name = e.Name
		}
		assert("size of "+name, "sizeof("+name+")", e.Size)
		sign := "> 0"
		if e.Signed {
			sign = "< 0"
		}
		assert("sign of "+name, "("+name+")-1 "+sign, 1)
	}
	for _, en := range e.Enumerators {
		assert(en.Name, en.Name, number(en.Value))
	}
}

// number is a decimal value as a C constant of a type that holds it.
func number(decimal string) string {
	switch {
	case decimal == "-9223372036854775808":
		return "(-9223372036854775807LL - 1)"
	case strings.HasPrefix(decimal, "-"):
		return decimal + "LL"
	case len(decimal) >= len("4294967296"):
		return decimal + "ULL"
	}
	return decimal
}
