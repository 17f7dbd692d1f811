package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/gcc"
)

// A package for another header takes package ibv's types: an *ibv.QP goes into
// mlx5dv's structs, which are laid out as the C compiler does it.
func TestPackagesUseIbv(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	gen(t, "generate", "-header", "infiniband/mlx5dv.h", "-o", filepath.Join(module, "mlx5dv"))
	places := []struct{ c, goForm string }{
		{"sizeof(struct mlx5dv_obj)", "unsafe.Sizeof(o)"},
		{"offsetof(struct mlx5dv_obj, qp.in)", "unsafe.Offsetof(o.QP) + unsafe.Offsetof(o.QP.In)"},
		{"offsetof(struct mlx5dv_obj, srq.out)", "unsafe.Offsetof(o.SRQ) + unsafe.Offsetof(o.SRQ.Out)"},
		{"offsetof(struct mlx5dv_obj, pd.in)", "unsafe.Offsetof(o.PD) + unsafe.Offsetof(o.PD.In)"},
		{"sizeof(struct mlx5dv_qp)", "unsafe.Sizeof(qp)"},
		{"offsetof(struct mlx5dv_qp, dbrec)", "unsafe.Offsetof(qp.Dbrec)"},
		{"offsetof(struct mlx5dv_qp, sq.stride)", "unsafe.Offsetof(qp.SQ) + unsafe.Offsetof(qp.SQ.Stride)"},
		{"sizeof(struct ibv_wc)", "unsafe.Sizeof(ibv.WC{})"},
	}
	var c, main strings.Builder
	c.WriteString("#include <stddef.h>\n#include <infiniband/mlx5dv.h>\nlong long places[] = {")
	main.WriteString("package main\n\nimport (\n\"fmt\"\n\"unsafe\"\n\n\"github.com/goverbs/goverbs/ibv\"\n\n\"example.org/bindings/mlx5dv\"\n)\n\n" +
		"func main() {\nvar mine ibv.QP\nvar qp mlx5dv.QP\nvar o mlx5dv.Obj\no.QP.In, o.QP.Out = &mine, &qp\n" +
		"qp.Dbrec = new(ibv.BE32)\nfmt.Print(o.QP.In == &mine, o.QP.Out == &qp)\n")
	for _, p := range places {
		c.WriteString(p.c + ", ")
		main.WriteString("fmt.Print(\" \", " + p.goForm + ")\n")
	}
	c.WriteString("};\n")
	main.WriteString("}\n")
	compiler, err := gcc.For(runtime.GOARCH)
	require.NoError(t, err)
	objects, err := compiler.Objects(c.String())
	require.NoError(t, err)
	numbers, err := objects.Numbers("places")
	require.NoError(t, err)
	want := "true true"
	for _, n := range numbers {
		want += fmt.Sprint(" ", n)
	}
	require.NoError(t, os.WriteFile(filepath.Join(module, "main.go"), []byte(main.String()), 0o644))
	assert.Equal(t, want, goCommand(t, module, "linux/"+runtime.GOARCH, "run", "."))
}

const (
	importedHeader = `
struct ibv_same { int a; };
struct ibv_grown { int a; int b; };
struct ibv_taller { int a; int b; };
struct ibv_defined { int a; };
union ibv_other { int a; long b; };
enum ibv_more { IBV_A, IBV_B };
enum ibv_fewer { IBV_C };
enum { IBV_UNNAMED };
#define IBV_M 1
#define IBV_N 1
struct ibv_user { struct ibv_same *a; struct ibv_pointed *b; };
`
	importingHeader = `
#include <infiniband/verbs.h>
struct x {
	struct ibv_same a;
	struct ibv_grown b;
	struct ibv_defined *c;
	union ibv_other d;
	enum ibv_more e;
	enum ibv_fewer f;
	struct ibv_pointed *g;
	struct own *h;
	struct ibv_same *i[2];
	struct ibv_taller *m;
	union { struct ibv_user k; struct ibv_same l; } j;
};
`
)

// What both headers declare just so is the imported package's, and so is what a
// later release has more of, if it is pointed to. What differs otherwise is declared
// anew, as are the structs that only the header has.
func TestWhatIsImported(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	gen(t, "generate", "-I", include(t, verbs, importedHeader), "-o", filepath.Join(module, "verbs"), "-package", "ibv", "-version", "2.0")
	older := strings.NewReplacer("int a; int b;", "int a;", "struct ibv_defined { int a; };", "struct ibv_defined;", "int a; long b;", "int a; int b;",
		"IBV_A, IBV_B", "IBV_A", "{ IBV_C }", "{ IBV_C, IBV_D }", "IBV_N 1", "IBV_N 2").Replace(importedHeader)
	dir := include(t, verbs, older)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "infiniband", "x.h"), []byte(importingHeader), 0o644))
	args := []string{"-I", dir, "-header", "infiniband/x.h", "-import", "example.org/bindings/verbs", "-o", filepath.Join(module, "x")}
	said := gen(t, append(append([]string{"generate"}, args...), "-version", "1.0")...)
	assert.Contains(t, said, "\n4 declared anew, because the infiniband/verbs.h 1.0 that was read has them otherwise than ibv (2.0): Fewer, Grown, N, Other\n"+
		"1 declared anew, because they stand in a union here, which Go's collector does not look into: User\n")
	text, err := os.ReadFile(filepath.Join(module, "x", "zz_generated.go"))
	require.NoError(t, err)
	var found []string
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		switch {
		case len(f) > 2 && f[0] == "type", len(f) > 2 && f[0] == "const":
			found = append(found, f[1])
		case len(f) > 4 && f[2] == "//":
			found = append(found, f[0]+"="+f[1])
		}
	}
	assert.Equal(t, "Fewer N Grown A=int32 Other User A=ibv.Ptr[ibv.Same] B=ibv.Ptr[ibv.Pointed] XJ "+
		"X A=ibv.Same B=Grown C=*ibv.Defined D=Other E=ibv.More F=Fewer G=*ibv.Pointed H=*Own I=[2]*ibv.Same M=*ibv.Taller J=XJ Own",
		strings.Join(found, " "))
	goCommand(t, module, "linux/"+runtime.GOARCH, "vet", "./...")
	gen(t, append([]string{"check"}, args...)...)

	for imported, want := range map[string]string{
		"example.org/nowhere":    "go list example.org/nowhere in " + module,
		"-h":                     "go list -h in",
		"fmt":                    "has written no " + factsName,
		"example.org/bindings/x": "it was generated from another header than infiniband/verbs.h",
	} {
		args := []string{"generate", "-I", dir, "-header", "infiniband/x.h", "-import", imported, "-o", filepath.Join(module, "y")}
		assert.ErrorContains(t, genFails(t, args...), want)
	}
	said = gen(t, "generate", "-I", dir, "-header", "infiniband/x.h", "-import", "none", "-o", filepath.Join(module, "y"))
	assert.NotContains(t, said, "declared anew")
	text, err = os.ReadFile(filepath.Join(module, "y", "zz_generated.go"))
	require.NoError(t, err)
	assert.Contains(t, string(text), "type Same struct")
	assert.NotContains(t, string(text), "ibv.")
}
