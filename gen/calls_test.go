package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/gcc"
)

// answers are the functions of infiniband/verbs.h whose negative numbers, or NULL,
// the man pages give a meaning.
const answers = "ibv_get_device_index ibv_rate_to_mult ibv_rate_to_mbps ibv_query_qp_data_in_order ibv_qp_to_qp_ex"

// directly are the functions of small.h that are called directly, once.
const directly = "small_shorts,small_words,small_none,small_void,small_bool,small_char,small_int8,small_uint8,small_int16,small_uint32,small_int64,small_uint64,small_size,small_count,small_colour,small_depth,small_text,small_thing.turn,small_thing.last"

// bound is a header and the library that its functions are of.
type bound struct {
	name, header, library string
	values, direct        string
	flags                 []string
	least                 int // how many functions there are
}

const smallHeaders = "testdata/calls"

var boundHeaders = []bound{
	{"verbs", verbs, verbsLibrary, answers, "", nil, 130},
	{"small", "small.h", "libsmall.so.1", "", "", []string{"-I", smallHeaders, "-library", "libsmall.so.1"}, 34},
	{"direct", "small.h", "libsmall.so.1", "", directly, []string{"-I", smallHeaders, "-library", "libsmall.so.1", "-direct", directly}, 34},
}

// Every generated function calls the C function that it is named after, with each
// argument in its place, and tells by C's convention what became of it. The C
// compiler makes the functions from the header's own prototypes; and again ones
// that see whole registers, whatever the header says. The build tag cross has
// other processors do so.
func TestCalls(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	for _, b := range boundHeaders {
		gen(t, slices.Concat([]string{"generate", "-o", filepath.Join(module, b.name, "lib"), "-header", b.header, "-package", "lib"}, b.flags)...)
	}
	for _, p := range processors() {
		t.Run(p.arch, func(t *testing.T) {
			facts, names := map[string]*abi.Facts{}, map[string]map[string]string{}
			for _, b := range boundHeaders {
				facts[b.name] = factsOfCalls(t, b.header, b.flags, "linux/"+p.arch)
				names[b.name] = goNames(t, filepath.Join(module, b.name, "lib"))
				require.GreaterOrEqual(t, len(names[b.name]), b.least)
				writeProgram(t, filepath.Join(module, b.name), b, facts[b.name], names[b.name])
			}
			programs := t.TempDir()
			goCommand(t, module, "linux/"+p.arch, "build", "-ldflags=-I "+p.linker, "-o", programs, "./verbs", "./small", "./direct")
			for _, b := range boundHeaders {
				for _, raw := range []string{"", "1"} {
					t.Run(fmt.Sprintf("%s, raw=%s", b.name, raw), func(t *testing.T) {
						t.Parallel()
						folder := t.TempDir()
						compileRecorder(t, p.arch, filepath.Join(folder, b.library), recorder(b.header, facts[b.name], names[b.name], raw != ""))
						command := append(strings.Fields(p.emulator), filepath.Join(programs, b.name))
						signs := ""
						if p.signs {
							signs = "1"
						}
						cmd := exec.Command(command[0], command[1:]...)
						cmd.Env = append(os.Environ(), "GOVERBS_LIBIBVERBS=", "GOVERBS_LIBRARIES="+folder, "VALUES="+b.values, "DIRECT="+b.direct, "RAW="+raw, "SIGNS="+signs)
						out, err := cmd.CombinedOutput()
						require.NoError(t, err, "%s", out)
						assert.Contains(t, string(out), fmt.Sprintf("%d functions, 0 failures", len(names[b.name])))
					})
				}
			}
		})
	}
}

// What Go cannot call is left out, and named with the reason.
func TestCallsLeftOut(t *testing.T) {
	args := []string{"generate", "-header", "small.h", "-library", "libsmall.so.1", "-I", "testdata/calls", "-o", t.TempDir()}
	said := said(t, args...)
	for name, why := range map[string]string{
		"small_variadic": "it takes any number of arguments",
		"small_double":   "double a: numbers in floating point are passed in other registers",
		"small_float":    "its result: numbers in floating point are passed in other registers",
		"small_by_value": "struct small_thing a: a struct or a union is passed by value",
		"small_returned": "its result: a struct or a union is passed by value",
		"small_union":    "union small_word a: a struct or a union is passed by value",
		"small_sixteen":  "it has 16 parameters, more than the 15 that Go passes",
	} {
		assert.Regexp(t, `(?m)^gen: left out: small.h:\d+: function `+name+`: `+why+`$`, said)
	}
	assert.Equal(t, 7, strings.Count(said, "left out"), said)
}

// A function that cannot be called directly is left out, and one that is not there
// refused. Without a library, none is called at all.
func TestCallsDirectly(t *testing.T) {
	args := []string{"generate", "-header", "small.h", "-I", "testdata/calls", "-o", t.TempDir()}
	library := []string{"-library", "libsmall.so.1", "-direct"}
	said := said(t, slices.Concat(args, library, []string{"small_ten,small_thing,small_text"})...)
	assert.Regexp(t, `left out: small.h:\d+: function small_ten: it cannot be called directly: it has 10 parameters, more than 6`, said)
	assert.Regexp(t, `left out: small.h:\d+: function small_thing: it cannot be called directly: the reason of a failure would be in errno`, said)
	for _, name := range []string{"small_gone", "small_thing.gone", "small_thing.a", "small_inline"} {
		err := genFails(t, slices.Concat(args, library, []string{"small_text," + name})...)
		assert.ErrorContains(t, err, name+" cannot be called directly: the header has no such function, nor member that points to one")
	}
	const none = "small_text cannot be called directly: no functions are called without a library"
	assert.ErrorContains(t, genFails(t, slices.Concat(args, []string{"-library", "none", "-direct", "small_text"})...), none)
	args[len(args)-1] = t.TempDir() // no files there remember a library
	assert.ErrorContains(t, genFails(t, slices.Concat(args, []string{"-direct", "small_text"})...), none)
}

// Arguments that are swapped do not compile, unless C has one type for both.
func TestSwappedArgumentsDoNotCompile(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	gen(t, "generate", "-package", "lib", "-o", filepath.Join(module, "lib"))
	program := func(calls ...string) string {
		return "package main\n\nimport \"example.org/bindings/lib\"\n\nfunc main() {\n" +
			"\tvar (\n\t\tctx *lib.Context\n\t\tpd *lib.PD\n\t\tqp *lib.QP\n\t\tmr *lib.MR\n\t\tgid *lib.GID\n\t\tattr *lib.QPAttr\n\t\tinit *lib.QPInitAttr\n\t)\n" +
			"\t_, _, _, _, _, _, _, _ = ctx, pd, qp, mr, gid, attr, init, lib.AccessLocalWrite\n\tport, index, lid := uint8(1), int32(2), uint16(3)\n\t_, _, _ = port, index, lid\n\t" +
			strings.Join(calls, "\n\t") + "\n}\n"
	}
	main := filepath.Join(module, "main.go")
	require.NoError(t, os.WriteFile(main, []byte(program(
		"lib.QueryGID(ctx, port, index, gid)", "lib.ModifyQP(qp, attr, lib.QPAttrMaskState)", "lib.QueryQP(qp, attr, lib.QPAttrMaskState, init)",
		"lib.AttachMcast(qp, gid, lid)", "lib.RegMR(pd, 0, 1, lib.AccessLocalWrite)", "lib.ReregMR(mr, lib.ReregMRChangePD, pd, 0, 1, lib.AccessLocalWrite)")), 0o644))
	goCommand(t, module, "linux/"+runtime.GOARCH, "vet", ".")
	swapped := []string{
		"lib.QueryGID(ctx, index, port, gid)", "lib.QueryGID(ctx, port, gid, index)", "lib.ModifyQP(attr, qp, lib.QPAttrMaskState)",
		"lib.ModifyQP(qp, lib.QPAttrMaskState, attr)", "lib.ModifyQP(qp, attr, lib.AccessLocalWrite)", "lib.QueryQP(qp, init, lib.QPAttrMaskState, attr)",
		"lib.AttachMcast(gid, qp, lid)", "lib.AttachMcast(qp, gid, port)", "lib.RegMR(pd, 0, lib.AccessLocalWrite, 1)",
		"lib.ReregMR(mr, lib.AccessLocalWrite, pd, 0, 1, lib.ReregMRChangePD)", "lib.AllocPD(pd)",
	}
	// The compiler tells of each line, -e of more than ten.
	text := program(swapped...)
	require.NoError(t, os.WriteFile(main, []byte(text), 0o644))
	cmd := exec.Command("go", "build", "-gcflags=-e", ".")
	cmd.Dir = module
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	for _, call := range swapped {
		before, _, _ := strings.Cut(text, call)
		assert.Regexp(t, fmt.Sprintf(`(?m)^\./main\.go:%d:\d+: cannot use `, 1+strings.Count(before, "\n")), string(out), call)
	}
}

// factsOfCalls reads a header for one target.
func factsOfCalls(t *testing.T, header string, flags []string, target string) *abi.Facts {
	t.Helper()
	args := []string{"facts", "-header", header, "-target", target}
	for i := 0; i+1 < len(flags); i += 2 {
		if flags[i] == "-I" {
			args = append(args, flags[i:i+2]...)
		}
	}
	all, err := abi.ReadAll(strings.NewReader(gen(t, args...)))
	require.NoError(t, err)
	require.Len(t, all, 1)
	return all[0]
}

var (
	symbolOf  = regexp.MustCompile(`var symbol(\w+) += clib\.Function\{Library: &cLibrary, Name: "(\w+)"`)
	pointerOf = regexp.MustCompile(`\nfunc \(s \*(\w+)\) Call(\w+)\(.*\n\t.*clib\.Pointer\{Name: "([\w.]+)", Address: uintptr\(s\.`)
)

// callables are the functions that have names in Go, those that members point to
// by RECORD.MEMBER.
func callables(facts *abi.Facts, names map[string]string) []*abi.Function {
	var out []*abi.Function
	for _, f := range facts.Functions {
		if names[f.Name] != "" {
			out = append(out, f)
		}
	}
	for _, r := range facts.Records {
		for _, f := range r.Fields {
			if name := r.Name + "." + f.Name; names[name] != "" {
				signature := &abi.Function{Name: name, Result: f.Type.Elem.Result}
				for _, t := range f.Type.Elem.Params {
					signature.Params = append(signature.Params, abi.Parameter{Type: t})
				}
				out = append(out, signature)
			}
		}
	}
	return out
}

// slotName is the symbol of the recorder's function for what a member points to.
func slotName(name string) string { return strings.ReplaceAll(name, ".", "__") }

// goNames are the generated functions by their names in C, and the types and members
// of those that members point to.
func goNames(t *testing.T, dir string) map[string]string {
	t.Helper()
	names := map[string]string{}
	for _, text := range files(t, dir) {
		for _, m := range symbolOf.FindAllStringSubmatch(text, -1) {
			names[m[2]] = m[1]
		}
		for _, m := range pointerOf.FindAllStringSubmatch(text, -1) {
			names[m[3]] = m[1] + "." + m[2]
		}
	}
	return names
}

// paramOf is a parameter as the program knows it.
func paramOf(t *abi.Type) string {
	kind := "unsigned"
	if t.Kind == abi.Int || t.Signed {
		kind = "signed"
	}
	return fmt.Sprintf("%s %d", kind, t.Size)
}

// writeProgram writes the program that calls all functions.
func writeProgram(t *testing.T, dir string, of bound, facts *abi.Facts, names map[string]string) {
	t.Helper()
	var b bytes.Buffer
	fmt.Fprintf(&b, "package main\n\nimport (\n\t\"github.com/goverbs/goverbs/clib\"\n\t%q\n)\n\nvar library = clib.Library{Soname: %q}\n\nvar functions = []function{\n", "example.org/bindings/"+of.name+"/lib", of.library)
	for _, f := range callables(facts, names) {
		var params []string
		for _, p := range f.Params {
			params = append(params, fmt.Sprintf("%q", paramOf(p.Type)))
		}
		call := "lib." + names[f.Name]
		if typ, member, is := strings.Cut(names[f.Name], "."); is {
			call = fmt.Sprintf("pointing[lib.%s](%q, %q).Call%s", typ, member, slotName(f.Name), member)
		}
		fmt.Fprintf(&b, "\t{%q, %s, %q, []string{%s}},\n", f.Name, call, f.Result.String(), strings.Join(params, ", "))
	}
	b.WriteString("}\n")
	main, err := os.ReadFile("testdata/calls/main.go")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "functions.go"), b.Bytes(), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), main, 0o644))
}

// recorder is the C of a library whose functions record their arguments. Those of
// the header have its prototypes, and the compiler refuses others; raw ones take
// whole registers.
func recorder(header string, facts *abi.Facts, names map[string]string, raw bool) string {
	var b strings.Builder
	if !raw {
		fmt.Fprintf(&b, "#include <%s>\n", header)
	}
	b.WriteString("#include \"record.c\"\n")
	for _, f := range callables(facts, names) {
		var params, words []string
		for i, p := range f.Params {
			name := fmt.Sprintf("a%d", i)
			declared, cast := "uint64_t "+name, "(uint64_t)"
			if !raw {
				declared = p.Type.Declare(name)
				if p.Type.Kind == abi.Pointer || p.Type.Kind == abi.FuncPtr {
					cast = "(uint64_t)(uintptr_t)"
				}
			}
			params, words = append(params, declared), append(words, cast+name)
		}
		if params == nil {
			params, words = []string{"void"}, []string{"0"}
		}
		call := fmt.Sprintf("record(%q, %d, (const uint64_t[]){%s})", f.Name, len(f.Params), strings.Join(words, ", "))
		symbol := slotName(f.Name)
		head, body := "uint64_t "+symbol, "return "+call
		if !raw {
			// The parentheses keep a macro of that name away.
			head = f.Result.Declare("(" + symbol + ")")
			switch f.Result.Kind {
			case abi.Void:
				body = call
			case abi.Pointer:
				body = fmt.Sprintf("return (%s)(uintptr_t)%s", f.Result, call)
			default:
				body = fmt.Sprintf("return (%s)%s", f.Result, call)
			}
		}
		fmt.Fprintf(&b, "%s(%s) { %s; }\n", head, strings.Join(params, ", "), body)
		if record, member, ok := strings.Cut(f.Name, "."); ok && !raw {
			fmt.Fprintf(&b, "void set_%s(struct %s *s) { s->%s = %s; }\n", symbol, record, member, symbol)
		}
	}
	return b.String()
}

// compileRecorder compiles the library for a processor. The headers are copied for
// cross compilers, because the folder that they are in is of this machine's.
func compileRecorder(t *testing.T, arch, file, text string) {
	t.Helper()
	compiler, err := gcc.For(arch)
	require.NoError(t, err)
	dir := t.TempDir()
	for _, name := range []string{"infiniband", "linux", "asm-generic", "rdma"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, name), os.DirFS(filepath.Join("/usr/include", name))))
	}
	source := filepath.Join(dir, "recorder.c")
	require.NoError(t, os.WriteFile(source, []byte(text), 0o644))
	cmd := exec.Command(compiler.Name(), "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-Wno-array-parameter", "-std=gnu17", "-I", "testdata/calls",
		"-idirafter", dir, "-o", file, source)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "the C compiler disagrees with the header's prototypes:\n%s", out)
}
