package cheader_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/gen/internal/crandom"
	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

var (
	// The default is the same everywhere, so that a tree that passed goes on passing; another seed explores.
	seed  = flag.Uint64("seed", 1, "the `seed` of the first random header; 0 takes a new one")
	count = flag.Int("headers", 20, "how many random headers to read for each processor")
)

// Random headers of all shapes: what the model says of them is what gcc says,
// on processors that differ in alignment, byte order and the sign of a char.
func TestRandomHeadersAgreeWithGCC(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat this run: go test ./gen/internal/cheader -run %s -seed %d", t.Name(), first)
	options := crandom.Options{Decls: 50, Alien: true, Overaligned: true}
	for _, arch := range []string{"amd64", "arm64", "386", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			t.Parallel()
			compiler, err := gcc.For(arch)
			require.NoError(t, err)
			records := 0
			for i := range *count {
				h := crandom.New(first+uint64(i), options)
				faults := compare(t, compiler, h)
				for _, d := range h.Decls {
					if d.Kind == crandom.RecordDecl {
						records++
					}
				}
				if len(faults) == 0 {
					continue
				}
				kind := faultKind(faults[0])
				deadline := time.Now().Add(time.Minute)
				h.Shrink(func(h *crandom.Header) bool {
					if time.Now().After(deadline) {
						return false
					}
					for _, f := range compare(t, compiler, h) {
						if faultKind(f) == kind {
							return true
						}
					}
					return false
				})
				t.Fatalf("the model and %s differ:\n%s\nin the header\n%s", compiler.Name(), strings.Join(compare(t, compiler, h), "\n"), h)
			}
			t.Logf("%d records agree", records)
		})
	}
}

// faultKind is what a fault is about, whatever it is found in: a header is
// shrunk as long as it shows the same one.
func faultKind(fault string) string {
	kind, _, _ := strings.Cut(fault, ":")
	return kind
}

// compare lists what the model and the compiler say differently of a header. A
// header that the compiler refuses is a fault too.
func compare(t *testing.T, compiler *gcc.Compiler, h *crandom.Header) []string {
	dir, err := os.MkdirTemp("", "random")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "random.h"), []byte(h.String()), 0o644))

	q := &questions{}
	q.ask(h)
	objects, err := compiler.Objects(q.source(), dir)
	if err != nil {
		_, message, _ := strings.Cut(err.Error(), "error: ")
		message, _, _ = strings.Cut(message, "\n")
		return []string{fmt.Sprintf("not C, %s: %v", message, err)}
	}
	target, err := headers.ParseTarget("linux/" + compiler.Arch)
	require.NoError(t, err)
	facts, err := cheader.Parse(cheader.Source{Header: "random.h", IncludeDirs: []string{dir}}, target)
	if err != nil {
		return []string{fmt.Sprintf("not read: %v", err)}
	}
	answers, err := objects.Numbers("answers")
	require.NoError(t, err)
	a := &answerer{facts: facts, objects: objects, truth: map[string]int64{}}
	for i, what := range q.what {
		a.truth[what] = answers[i]
	}
	a.check(h)
	sort.Strings(a.faults)
	return a.faults
}

// questions is a C program that answers them in the initial values of objects.
type questions struct {
	what    []string
	answers []string
	objects []string
}

func (q *questions) number(what, expression string) {
	q.what = append(q.what, what)
	q.answers = append(q.answers, expression)
}

func (q *questions) source() string {
	return "#include \"random.h\"\n" + strings.Join(q.objects, "\n") +
		"\nlong long answers[] = {\n" + strings.Join(append(q.answers, "0"), ",\n") + "};\n"
}

func (q *questions) ask(h *crandom.Header) {
	for _, d := range h.Decls {
		switch d.Kind {
		case crandom.RecordDecl:
			q.number(d.Name+" size", "sizeof("+d.Name+")")
			q.number(d.Name+" align", "_Alignof("+d.Name+")")
			for _, l := range leaves(d.Record, "") {
				at := d.Name + " " + l.path
				switch {
				case l.Width > 0:
					q.objects = append(q.objects, fmt.Sprintf("%s %s = { .%s = -1 };", d.Name, objectName(d, l), l.path))
				default:
					q.number(at+" offset", fmt.Sprintf("offsetof(%s, %s)", d.Name, l.path))
					if l.After != "[]" {
						q.number(at+" size", fmt.Sprintf("sizeof(((%s *)0)->%s)", d.Name, l.path))
					}
				}
				if l.Integer {
					q.number(at+" signed", fmt.Sprintf("(%s)-1 < 0", l.Type))
				}
			}
		case crandom.EnumDecl:
			if d.Name != "" {
				q.number(d.Name+" size", "sizeof("+d.Name+")")
				q.number(d.Name+" signed", "("+d.Name+")-1 < 0")
			}
			for _, v := range d.Values {
				q.number(v.Name+" value", "(long long)"+v.Name)
				q.number(v.Name+" negative", v.Name+" < 0")
			}
		case crandom.MacroDecl:
			q.number(d.Name+" value", "(long long)("+d.Name+")")
			q.number(d.Name+" negative", "("+d.Name+") < 0")
		}
	}
}

// leaf is a member that C has a name for, from the outermost record on.
type leaf struct {
	*crandom.Member
	path string
}

func leaves(r *crandom.Record, prefix string) []leaf {
	var out []leaf
	for _, m := range r.Members {
		switch {
		case m.Inner != nil && m.Name == "":
			out = append(out, leaves(m.Inner, prefix)...)
		case m.Inner != nil && m.After == "":
			out = append(out, leaves(m.Inner, prefix+m.Name+".")...)
		case m.Name != "":
			out = append(out, leaf{m, prefix + m.Name})
		}
	}
	return out
}

func objectName(d *crandom.Decl, l leaf) string {
	return "object_" + strings.NewReplacer(" ", "_", ".", "_").Replace(d.Name+"_"+l.path)
}

// answerer holds the model against the compiler's answers.
type answerer struct {
	facts   *abi.Facts
	objects *gcc.Objects
	truth   map[string]int64
	faults  []string
}

func (a *answerer) equal(kind, what string, model int64) {
	if truth := a.truth[what]; truth != model {
		a.faults = append(a.faults, fmt.Sprintf("%s: %s is %d in C, %d in the model", kind, what, truth, model))
	}
}

func (a *answerer) fault(kind, format string, args ...any) {
	a.faults = append(a.faults, kind+": "+fmt.Sprintf(format, args...))
}

func (a *answerer) check(h *crandom.Header) {
	records := map[string]*abi.Record{}
	for _, r := range a.facts.Records {
		name := string(r.Kind) + " " + r.Name
		if r.Typedef {
			name = r.Name
		}
		records[name] = r
	}
	enums := map[string]*abi.Enum{}
	for _, e := range a.facts.Enums {
		enums[e.Enumerators[0].Name] = e
	}
	macros := map[string]*abi.Macro{}
	for _, m := range a.facts.Macros {
		macros[m.Name] = m
	}
	for _, d := range h.Decls {
		switch d.Kind {
		case crandom.RecordDecl:
			if r := records[d.Name]; r != nil {
				a.record(d, r)
			} else {
				a.fault("record missing", "%s", d.Name)
			}
		case crandom.EnumDecl:
			if len(d.Values) == 0 {
				continue
			}
			if e := enums[d.Values[0].Name]; e != nil {
				a.enum(d, e)
			} else {
				a.fault("enum missing", "%s with %s", d.Name, d.Values[0].Name)
			}
		case crandom.MacroDecl:
			if m := macros[d.Name]; m != nil {
				a.equal("value of a macro", d.Name+" value", parseValue(m.Value))
				a.equal("sign of a macro", d.Name+" negative", truth(strings.HasPrefix(m.Value, "-")))
			} else {
				a.fault("macro missing", "%s", d.Name)
			}
		}
	}
}

func (a *answerer) enum(d *crandom.Decl, e *abi.Enum) {
	if d.Name != "" {
		a.equal("size of an enumeration", d.Name+" size", e.Size)
		a.equal("sign of an enumeration", d.Name+" signed", truth(e.Signed))
	}
	if len(d.Values) != len(e.Enumerators) {
		a.fault("enumerators", "%s has %d in C, %d in the model", d.Name, len(d.Values), len(e.Enumerators))
		return
	}
	for i, v := range d.Values {
		value := e.Enumerators[i].Value
		a.equal("value of an enumerator", v.Name+" value", parseValue(value))
		a.equal("sign of an enumerator", v.Name+" negative", truth(strings.HasPrefix(value, "-")))
	}
}

func (a *answerer) record(d *crandom.Decl, r *abi.Record) {
	a.equal("size of a record", d.Name+" size", r.Size)
	a.equal("alignment of a record", d.Name+" align", r.Align)
	flat := map[string]abi.Leaf{}
	for _, l := range r.Flat {
		flat[l.Path] = l
	}
	fields := map[string]*abi.Field{}
	collect(fields, r, "")
	wanted := leaves(d.Record, "")
	if len(wanted) != len(r.Flat) {
		a.fault("leaves", "%s has %d in C, %d in the model", d.Name, len(wanted), len(r.Flat))
	}
	for _, l := range wanted {
		at := d.Name + " " + l.path
		got, ok := flat[l.path]
		if !ok || fields[l.path] == nil {
			a.fault("leaf missing", "%s", at)
			continue
		}
		if l.Width > 0 {
			a.bits(objectName(d, l), at, got)
		} else {
			a.equal("offset", at+" offset", got.Offset)
			a.equal("size of a member", at+" size", got.Size)
		}
		if l.Integer {
			a.equal("sign of a member", at+" signed", truth(isSigned(fields[l.path].Type)))
		}
	}
}

// bits compares a bit-field with the bits that are set in an object in which
// all of the field's are.
func (a *answerer) bits(object, at string, got abi.Leaf) {
	b, err := a.objects.Bytes(object)
	if err != nil {
		a.fault("bits", "%v", err)
		return
	}
	first, n := -1, 0
	for i := range 8 * len(b) {
		bit := byte(1) << (i % 8)
		if a.objects.Order == binary.BigEndian {
			bit = 0x80 >> (i % 8)
		}
		if b[i/8]&bit != 0 {
			if first < 0 {
				first = i
			}
			n++
		}
	}
	if got.BitOffset == nil || got.BitSize == nil {
		a.fault("bits", "%s is %d bits at %d in C, no bit-field in the model", at, n, first)
		return
	}
	if int64(first) != *got.BitOffset || int64(n) != *got.BitSize {
		a.fault("bits", "%s is %d bits at %d in C, %d at %d in the model", at, n, first, *got.BitSize, *got.BitOffset)
	}
}

func collect(fields map[string]*abi.Field, r *abi.Record, prefix string) {
	for _, f := range r.Fields {
		fields[prefix+f.Name] = f
		if f.Type.Anon != nil {
			inner := prefix
			if f.Name != "" {
				inner += f.Name + "."
			}
			collect(fields, f.Type.Anon, inner)
		}
	}
}

func isSigned(t *abi.Type) bool { return t.Kind == abi.Int || t.Signed }

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// parseValue is a value as the two's complement that a long long has of it.
func parseValue(decimal string) int64 {
	if u, err := strconv.ParseUint(decimal, 10, 64); err == nil {
		return int64(u)
	}
	i, err := strconv.ParseInt(decimal, 10, 64)
	if err != nil {
		return 0
	}
	return i
}
