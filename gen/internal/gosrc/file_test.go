package gosrc

import (
	"go/build/constraint"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// machine is what a program is built for: the build tags that hold there, and
// which target stands for it.
type machine struct{ tags, target string }

var otherMachines = []machine{
	{"darwin arm64", "linux/amd64/glibc"}, {"windows amd64", "linux/amd64/glibc"}, {"windows arm64 musl", "linux/amd64/glibc"},
	{"linux mips64", "linux/amd64/glibc"}, {"linux amd64 musl", "linux/amd64/glibc"}, {"linux android arm64", "linux/arm64/glibc"},
	{"freebsd riscv64", "freebsd/amd64/freebsd"},
}

// Of each set of targets, the build constraint holds on them and on no other, and
// its file has a name of its own that tells the go command nothing else.
func TestConstraintsOfSets(t *testing.T) {
	var targets []*abi.Facts
	machines := slices.Clone(otherMachines)
	for target := range strings.FieldsSeq("linux/amd64/glibc linux/arm64/glibc linux/arm64/musl linux/s390x/glibc freebsd/amd64/freebsd freebsd/arm64/freebsd") {
		words := strings.Split(target, "/")
		targets = append(targets, &abi.Facts{GOOS: words[0], GOARCH: words[1], Libc: words[2]})
		tags := words[0] + " " + words[1]
		if words[2] == "musl" {
			tags += " musl"
		}
		machines = append(machines, machine{tags, target})
	}
	for _, everywhere := range []bool{true, false} {
		names := map[string]bool{}
		for bits := 1; bits < 1<<len(targets); bits++ {
			s := set{targets: targets, everywhere: everywhere}
			var in []string
			for i, target := range targets {
				s.in = append(s.in, bits&(1<<i) != 0)
				if s.in[i] {
					in = append(in, target.Target())
				}
			}
			name := s.name()
			assert.False(t, names[name], "%v: the name %q is another set's", in, name)
			names[name] = true
			if last := name[strings.LastIndex(name, "_")+1:]; last != "linux" && last != "freebsd" {
				assert.True(t, last == "" || strings.Contains(last, "-"), "the go command knows %q", name)
			}
			var expr constraint.Expr
			if text := s.constraint(); text != "" {
				var err error
				expr, err = constraint.Parse("//go:build " + text)
				require.NoError(t, err)
			}
			for i, m := range machines {
				if !everywhere && i < len(otherMachines) {
					continue
				}
				tags := strings.Fields(m.tags)
				holds := expr == nil || expr.Eval(func(tag string) bool { return slices.Contains(tags, tag) })
				assert.Equal(t, slices.Contains(in, m.target), holds, "%v on %s: %v", in, m.tags, expr)
			}
		}
	}
}

// What targets have alike is written once, a layout apart from its type.
func TestDeclarationsAreWrittenOnce(t *testing.T) {
	const text = "typedef struct { char c[SIZE]; } lock; struct a { lock l; int x; }; struct b { int y; };\n"
	var targets []*abi.Facts
	for _, c := range []struct{ arch, size string }{{"amd64", "8"}, {"arm64", "12"}, {"riscv64", "8"}} {
		targets = append(targets, textFacts(t, strings.Replace(text, "SIZE", c.size, 1), c.arch))
	}
	files, err := generate(targets, Options{Package: "p", Command: "test", Everywhere: true}, "")
	require.NoError(t, err)
	types := map[string]string{}
	for name, source := range files {
		types[name] = strings.Join(declared(t, string(source)), " ")
	}
	assert.Equal(t, map[string]string{
		"zz_generated.go":                 "A A.L A.X B B.Y",
		"zz_generated_linux-arm64.go":     "Lock Lock.C",
		"zz_generated_not-linux-arm64.go": "Lock Lock.C",
	}, types)
	assert.Contains(t, string(files["zz_generated.go"]), "struct b of case.h, 4 bytes.")
	assert.Contains(t, string(files["zz_generated.go"]), "struct a of case.h.")
	assert.Contains(t, string(files["zz_generated_linux-arm64.go"]), "unsafe.Sizeof(A{})-16]")
	assert.Contains(t, string(files["zz_generated_not-linux-arm64.go"]), "unsafe.Sizeof(A{})-12]")
}

// The packages of the standard library stand first in a file.
func TestGroupImports(t *testing.T) {
	for source, want := range map[string]string{
		"package p\n\nimport (\n\t\"a.org/b\"\n\tc \"a.org/c\"\n\t\"go/ast\"\n\t\"structs\"\n)\n": "package p\n\nimport (\n\t\"go/ast\"\n\t\"structs\"\n\n\t\"a.org/b\"\n\tc \"a.org/c\"\n)\n",
		"package p\n\nimport (\n\t\"structs\"\n\t\"unsafe\"\n)\n":                                 "",
		"package p\n\nimport (\n\t\"a.org/b\"\n\t\"a.org/c\"\n)\n":                                "",
		"package p\n\nimport \"unsafe\"\n":                                                        "",
		"package p\n":                                                                             "",
	} {
		if want == "" {
			want = source
		}
		assert.Equal(t, want, string(groupImports([]byte(source))))
	}
}
