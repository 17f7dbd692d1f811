package gosrc

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
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

// The default is the same everywhere, so that a tree that passed goes on passing; another seed explores.
var seed = flag.Uint64("seed", 1, "the `seed` of the random headers; 0 takes a new one")

// Random headers of all shapes that Go can express: the Go compiler accepts
// what is generated with all its assertions, each member has C's size, and a
// number written through Go is what C initialises an object to, and the
// reverse, on a processor of either byte order.
func TestRandomHeadersInGo(t *testing.T) {
	first := *seed
	if first == 0 {
		first = uint64(time.Now().UnixNano())
	}
	t.Logf("to repeat this run: go test ./gen/internal/gosrc -run %s -seed %d", t.Name(), first)
	for i, c := range []struct {
		arch  string
		decls int
	}{{"amd64", 150}, {"s390x", 80}} {
		t.Run(c.arch, func(t *testing.T) {
			h := crandom.New(first+uint64(i), crandom.Options{Decls: c.decls})
			fault := try(t, h, c.arch, "")
			if fault == "" {
				return
			}
			kind := faultKind(fault)
			deadline := time.Now().Add(2 * time.Minute)
			h.Shrink(func(h *crandom.Header) bool {
				return time.Now().Before(deadline) && faultKind(try(t, h, c.arch, kind)) == kind
			})
			t.Fatalf("%s\nin the header\n%s", try(t, h, c.arch, ""), h)
		})
	}
}

func faultKind(fault string) string {
	kind, _, _ := strings.Cut(fault, ":")
	return kind
}

// try generates Go for a header, builds it with a program that holds it
// against C, and runs that. It returns what went wrong, and stops early if only
// one kind of fault is looked for.
func try(t *testing.T, h *crandom.Header, arch, only string) string {
	dir, err := os.MkdirTemp("", "random")
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	write("random.h", h.String())
	compiler, err := gcc.For(arch)
	require.NoError(t, err)
	target, err := headers.ParseTarget("linux/" + arch)
	require.NoError(t, err)
	facts, err := cheader.Parse(cheader.Source{Header: "random.h", IncludeDirs: []string{dir}}, target)
	if err != nil {
		if ok, said, _ := compiler.Accepts("#include \"random.h\"\n", dir); !ok {
			return "not C: " + said
		}
		return fmt.Sprintf("not read: %v", err)
	}
	if only == "not read" {
		return ""
	}
	files, err := generate([]*abi.Facts{facts}, Options{Package: "main", Command: "test"}, "")
	if err != nil {
		return fmt.Sprintf("not written: %v", err)
	}
	if only == "not written" {
		return ""
	}
	source := ""
	for name, text := range files {
		write(name, string(text))
		source = string(text)
	}
	p := &prober{random: rand.New(rand.NewPCG(h.Seed, 2)), types: typesOf(t, source)}
	for _, d := range h.Decls {
		if d.Kind == crandom.RecordDecl {
			p.record(d)
		}
	}
	objects, err := compiler.Objects(p.c(), dir)
	if err != nil {
		return fmt.Sprintf("not C: %v", err)
	}
	write("main.go", p.main(t, objects))
	write("go.mod", "module random\n\ngo 1.26.0\n")
	build := exec.Command("go", "build", "-o", "random", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOWORK=off")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Sprintf("not built: %s", out)
	}
	if out, err := emulated(t, arch, filepath.Join(dir, "random")).CombinedOutput(); err != nil || string(out) != "done\n" {
		return fmt.Sprintf("not equal: %v %s", err, out)
	}
	return ""
}

// goOffer is what a type offers in Go: its fields and methods with their types.
type goOffer struct {
	fields, methods map[string]string
	setters         map[string]bool
}

// typesOf reads the generated Go.
func typesOf(t *testing.T, source string) map[string]*goOffer {
	file, err := parser.ParseFile(token.NewFileSet(), "generated.go", source, 0)
	require.NoError(t, err)
	out := map[string]*goOffer{}
	offer := func(name string) *goOffer {
		if out[name] == nil {
			out[name] = &goOffer{map[string]string{}, map[string]string{}, map[string]bool{}}
		}
		return out[name]
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			for _, s := range d.Specs {
				s, ok := s.(*ast.TypeSpec)
				if !ok {
					continue
				}
				if st, ok := s.Type.(*ast.StructType); ok {
					for _, f := range st.Fields.List {
						offer(s.Name.Name).fields[f.Names[0].Name] = types.ExprString(f.Type)
					}
				}
			}
		case *ast.FuncDecl:
			if d.Recv == nil {
				continue
			}
			star, ok := d.Recv.List[0].Type.(*ast.StarExpr)
			switch {
			case !ok:
			case d.Type.Results == nil:
				offer(types.ExprString(star.X)).setters[d.Name.Name] = true
			case len(d.Type.Params.List) == 0:
				offer(types.ExprString(star.X)).methods[d.Name.Name] = types.ExprString(d.Type.Results.List[0].Type)
			}
		}
	}
	return out
}

// prober writes a C program that has the answers, and a Go program that gives
// them.
type prober struct {
	random *rand.Rand
	types  map[string]*goOffer
	probes []probe
}

// probe is one member of one record, with a value.
type probe struct {
	cType, path string
	member      *crandom.Member
	goType      string // of the record
	place       place
	value       int64
}

// place is how Go gets at a member: an expression to read it, and for one
// behind methods the setter.
type place struct {
	read, set string
	typ       string
}

func (p *prober) record(d *crandom.Decl) {
	goType := camel(d.Name[strings.LastIndex(d.Name, " ")+1:])
	p.members(d, d.Record, "", goType, place{read: "s", typ: goType})
}

func (p *prober) members(d *crandom.Decl, r *crandom.Record, prefix, goType string, in place) {
	for _, m := range r.Members {
		path := prefix + m.Name
		switch {
		case m.Inner != nil && m.Name == "":
			p.members(d, m.Inner, prefix, goType, in)
		case m.Name == "" || m.After == "[]" || m.After == "[0]":
		case m.Inner != nil && m.After == "" && len(m.Inner.Members) > 0:
			if at, ok := p.find(in, m.Name); ok && at.set == "" {
				p.members(d, m.Inner, path+".", goType, at)
			}
		default:
			at, ok := p.find(in, m.Name)
			if !ok {
				at = place{}
			}
			for _, v := range []int64{-1, int64(p.random.Uint64()), 1} {
				p.probes = append(p.probes, probe{d.Name, path, m, goType, at, v})
			}
		}
	}
}

// find is how Go gets at a member of what stands at a place.
func (p *prober) find(in place, member string) (place, bool) {
	offer, name := p.types[in.typ], camel(member)
	if offer == nil {
		return place{}, false
	}
	if typ, ok := offer.fields[name]; ok {
		return place{read: in.read + "." + name, typ: typ}, true
	}
	typ, ok := offer.methods[name]
	if pointee, isPointer := strings.CutPrefix(typ, "*"); ok && isPointer && !offer.setters["Set"+name] {
		return place{read: "(*" + in.read + "." + name + "())", typ: pointee}, true
	}
	return place{read: in.read + "." + name + "()", set: in.read + ".Set" + name, typ: typ}, ok
}

func (p *prober) c() string {
	var b strings.Builder
	b.WriteString("#include \"random.h\"\n")
	var numbers []string
	for i, x := range p.probes {
		if x.member.Width < 0 {
			numbers = append(numbers, fmt.Sprintf("sizeof(((%s *)0)->%s)", x.cType, x.path))
		} else {
			numbers = append(numbers, "0")
		}
		if x.member.Integer {
			numbers = append(numbers, fmt.Sprintf("(%s)-1 < 0", x.member.Type), fmt.Sprintf("(long long)(%s)%d", x.member.Type, x.value))
			fmt.Fprintf(&b, "%s object_%d = { .%s = %d };\n", x.cType, i, x.path, x.value)
		} else {
			numbers = append(numbers, "0", "0")
		}
	}
	fmt.Fprintf(&b, "long long numbers[] = { %s };\n", strings.Join(append(numbers, "0"), ",\n"))
	return b.String()
}

func (p *prober) main(t *testing.T, objects *gcc.Objects) string {
	numbers, err := objects.Numbers("numbers")
	require.NoError(t, err)
	var b strings.Builder
	b.WriteString("package main\n\nimport (\n\"bytes\"\n\"fmt\"\n\"unsafe\"\n)\n\n" +
		"type number interface { ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr }\n" +
		"func as[T number](v int64, _ T) T { return T(v) }\n" +
		"func isTrue(v int64, _ bool) bool { return v != 0 }\n" +
		"func equal(what string, got, want int64) { if got != want { fmt.Println(what, \"reads\", got, \"want\", want) } }\n" +
		"func same(what string, got, want []byte) { if !bytes.Equal(got, want) { fmt.Printf(\"%s: Go wrote %x, C has %x\\n\", what, got, want) } }\n" +
		"func size(what string, got uintptr, want uintptr) { if got != want { fmt.Println(what, \"has size\", got, \"want\", want) } }\n" +
		"func boolean(b bool) int64 { if b { return 1 }; return 0 }\n" +
		"var _ = unsafe.Pointer(nil)\n\n")
	for i, x := range p.probes {
		what := x.cType + "." + x.path
		fmt.Fprintf(&b, "func probe%d() {\n", i)
		if x.place.read == "" && x.member.Width < 0 && numbers[3*i] == 0 {
			b.WriteString("}\n") // what takes no room holds nothing
			continue
		}
		if x.place.read == "" {
			fmt.Fprintf(&b, "fmt.Println(%q, \"is not in Go\")\n}\n", what)
			continue
		}
		fmt.Fprintf(&b, "var object %s; s := &object\n_ = s\n", x.goType)
		if x.member.Width < 0 {
			fmt.Fprintf(&b, "size(%q, unsafe.Sizeof(%s), %d)\n", what, x.place.read, numbers[3*i])
		}
		if x.member.Integer {
			bytes, err := objects.Bytes(fmt.Sprintf("object_%d", i))
			require.NoError(t, err)
			want := numbers[3*i+2]
			if w := x.member.Width; w >= 0 && x.place.typ != "bool" {
				want = want << (64 - w) >> (64 - w)
				if numbers[3*i+1] == 0 {
					want &= 1<<w - 1
				}
			}
			convert, back := "as", "int64(%s)"
			switch x.place.typ {
			case "bool":
				convert, back = "isTrue", "boolean(%s)"
			case "byte":
				want &= 0xff
			}
			value := fmt.Sprintf("%s(%d, %s)", convert, x.value, x.place.read)
			if x.place.set != "" {
				fmt.Fprintf(&b, "%s(%s)\n", x.place.set, value)
			} else {
				fmt.Fprintf(&b, "%s = %s\n", x.place.read, value)
			}
			fmt.Fprintf(&b, "memory := (*[unsafe.Sizeof(object)]byte)(unsafe.Pointer(s))[:]\nc := %#v\nsame(%q, memory, c)\n", bytes, what)
			fmt.Fprintf(&b, "copy(memory, c)\nequal(%q, %s, %d)\n", what, fmt.Sprintf(back, x.place.read), want)
			// In memory full of ones, only the member's own bits change.
			if x.value == -1 {
				zero := strings.Replace(value, "(-1,", "(0,", 1)
				set := x.place.read + " = " + zero
				if x.place.set != "" {
					set = x.place.set + "(" + zero + ")"
				}
				fmt.Fprintf(&b, "for i := range memory { memory[i] = 0xff }\n%s\nfor i := range memory { memory[i] = ^memory[i] }\n", set)
				if x.place.typ == "bool" && x.member.Width < 0 {
					// C's true is one bit of the byte that Go has set to 0.
					b.WriteString("memory[bytes.IndexByte(memory, 0xff)] = 1\n")
				}
				fmt.Fprintf(&b, "same(%q, memory, c)\n", what)
			}
		}
		b.WriteString("}\n")
	}
	b.WriteString("func main() {\n")
	for i := range p.probes {
		fmt.Fprintf(&b, "probe%d()\n", i)
	}
	b.WriteString("fmt.Println(\"done\")\n}\n")
	return b.String()
}
