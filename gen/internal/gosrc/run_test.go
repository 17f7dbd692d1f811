package gosrc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

// parse reads a header of a folder for a processor.
func parse(t testing.TB, dir, header, arch string) *abi.Facts {
	t.Helper()
	target, err := headers.ParseTarget("linux/" + arch)
	require.NoError(t, err)
	facts, err := cheader.Parse(cheader.Source{Header: header, IncludeDirs: []string{dir}}, target)
	require.NoError(t, err)
	return facts
}

// program is a Go program made of a header's declarations and a main function.
type program struct {
	header string // in testdata
	words  string // the table of words
	main   string // the body of main and what goes with it
}

// run builds the program for a processor and runs it, under emulation if need
// be. What it prints is returned.
func (p program) run(t *testing.T, arch string) string {
	t.Helper()
	files, err := generate([]*abi.Facts{parse(t, "testdata", p.header, arch)}, Options{Package: "main", Command: "test"}, p.words)
	require.NoError(t, err)
	dir := t.TempDir()
	write := func(name string, text []byte) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o644))
	}
	for name, text := range files {
		write(name, text)
	}
	write("go.mod", []byte("module shapes\n\ngo 1.26.0\n"))
	write("main.go", []byte(p.main))
	build := exec.Command("go", "build", "-o", "shapes", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch, "GOFLAGS=", "GOWORK=off")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "building for %s\n%s", arch, out)
	out, err = emulated(t, arch, filepath.Join(dir, "shapes")).CombinedOutput()
	require.NoError(t, err, "running for %s\n%s", arch, out)
	return string(out)
}

// emulated is the command that runs a program of a processor.
func emulated(t *testing.T, arch, file string) *exec.Cmd {
	t.Helper()
	if arch == runtime.GOARCH {
		return exec.Command(file)
	}
	emulator := "qemu-" + arch
	_, err := exec.LookPath(emulator)
	require.NoError(t, err, "this test runs a program for %s; on Debian: apt install qemu-user", arch)
	return exec.Command(emulator, file)
}

// valueCase is an object as C initialises it, and how Go writes and reads it.
type valueCase struct {
	c, init   string // its type in C, its initializer
	goType    string
	set, read string // statements that write it, an expression that is true of it
}

var valueCases = []valueCase{
	{"struct plain", `{.a = 1, .b = 0xdeadbeef, .c = BE16(0x1234), .d = BE32(0x12345678), .e = BE64(0x123456789abcdef0)}`, "Plain",
		`s.A, s.B, s.C, s.D, s.E = 1, 0xdeadbeef, ToBE16(0x1234), ToBE32(0x12345678), ToBE64(0x123456789abcdef0)`,
		`s.A == 1 && s.B == 0xdeadbeef && s.C.Host() == 0x1234 && s.D.Host() == 0x12345678 && s.E.Host() == 0x123456789abcdef0 && s.C.String() == "4660"`},
	{"struct plain", `{.f = 1, .g = -1, .h = 1.5f, .i = -2.5, .j = -7, .k = -1L << 40}`, "Plain",
		`s.F, s.G, s.H, s.I, s.J, s.K = true, 0xff, 1.5, -2.5, -7, -1<<40`,
		`s.F && s.G == 0xff && s.H == 1.5 && s.I == -2.5 && s.J == -7 && s.K == -1<<40`},
	{"struct plain", `{.color = BLUE, .depth = DEEP, .wide = WIDE, .grid = {{1, 2, 3}, {4, 5, 0xfffe}}, .pair = {{1, 2}, {3, 4}}}`, "Plain",
		`s.Color, s.Depth, s.Wide, s.Grid, s.Pair = Blue, Deep, WideWide, [2][3]uint16{{1, 2, 3}, {4, 5, 0xfffe}}, [2]PlainPair{{Low: 1, High: 2}, {Low: 3, High: 4}}`,
		`s.Color == 6 && s.Depth == -3 && s.Wide == 0x123456789 && s.Grid[1][2] == 0xfffe && s.Pair[1].High == 4`},
	{"union number", `{.raw = {1, 2, 3, [15] = 9}}`, "Number", `*s.Raw() = [16]byte{1, 2, 3, 15: 9}`, `s.Raw()[15] == 9`},
	{"union number", `{.halves = {3, 0x100}}`, "Number", `s.Halves().High, s.Halves().Low = 3, 0x100`, `s.Halves().Low == 0x100`},
	{"union number", `{.word = BE32(77)}`, "Number", `s.SetWord(ToBE32(77))`, `s.Word().Host() == 77 && s.Raw()[3] == 77`},
	{"union number", `{.real = 0.125}`, "Number", `s.SetReal(0.125)`, `s.Real() == 0.125`},
	{"struct event", `{.type = 3, .imm_data = BE32(0xcafe), .element = {.real = 4.0}, .last = 8}`, "Event",
		`s.Type, s.Last = 3, 8; s.SetImmData(ToBE32(0xcafe)); s.Element.SetReal(4)`,
		`s.Type == 3 && s.ImmData().Host() == 0xcafe && s.Element.Real() == 4 && s.Last == 8`},
	{"struct event", `{.rkey = 0x01020304}`, "Event", `s.SetRKey(0x01020304)`, `s.RKey() == 0x01020304`},
	{"struct event", `{.first = 0x0102, .second = 0x0304}`, "Event", `s.SetFirst(0x0102); s.SetSecond(0x0304)`, `s.First() == 0x0102 && s.Second() == 0x0304`},
	{"struct packet", `{.kind = 1, .length = 0x01020304, .cookie = 0x1122334455667788}`, "Packet",
		`s.Kind = 1; s.SetLength(0x01020304); s.SetCookie(0x1122334455667788)`,
		`s.Kind == 1 && s.Length() == 0x01020304 && s.Cookie() == 0x1122334455667788`},
	{"struct flex", `{.count = 2, .flag = 3, .tail = {5, 0x06000000}}`, "Flex",
		`s.Count, s.Flag = 2, 3; s.Tail(2)[0], s.Tail(2)[1] = 5, 0x06000000`,
		`s.Count == 2 && len(s.Tail(2)) == 2 && s.Tail(2)[1] == 0x06000000`},
	{"struct bits", `{.before = 1, .low = 5, .middle = -3, .on = 1, .color = GREEN, .far = 0x8123456789, .after = 2}`, "Bits",
		`s.Before, s.After = 1, 2; s.SetLow(5); s.SetMiddle(-3); s.SetOn(true); s.SetColor(Green); s.SetFar(0x8123456789)`,
		`s.Before == 1 && s.After == 2 && s.Low() == 5 && s.Middle() == -3 && s.On() && s.Color() == Green && s.Far() == 0x8123456789`},
	{"struct bits", `{.middle = 63}`, "Bits", `s.SetMiddle(-1); s.SetMiddle(63 + 128)`, `s.Middle() == 63 && !s.On() && s.Low() == 0`},
}

// Bytes written by the C compiler are read through Go, and Go writes the same
// bytes, on a processor of either byte order.
func TestGoSharesMemoryWithC(t *testing.T) {
	for _, arch := range []string{"amd64", "s390x"} {
		t.Run(arch, func(t *testing.T) {
			var c, main strings.Builder
			c.WriteString("#include \"shapes.h\"\n" +
				"#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__\n#define BE(n, x) (x)\n#else\n#define BE(n, x) __builtin_bswap##n(x)\n#endif\n" +
				"#define BE16(x) BE(16, x)\n#define BE32(x) BE(32, x)\n#define BE64(x) BE(64, x)\n")
			for i, v := range valueCases {
				fmt.Fprintf(&c, "%s object_%d = %s;\n", v.c, i, v.init)
			}
			compiler, err := gcc.For(arch)
			require.NoError(t, err)
			objects, err := compiler.Objects(c.String(), "testdata")
			require.NoError(t, err)

			main.WriteString("package main\n\nimport (\n\"bytes\"\n\"fmt\"\n\"unsafe\"\n)\n\nfunc main() {\n")
			for i, v := range valueCases {
				b, err := objects.Bytes(fmt.Sprintf("object_%d", i))
				require.NoError(t, err)
				fmt.Fprintf(&main, "{\nvar memory [16]uint64\nb := (*[128]byte)(unsafe.Pointer(&memory))[:]\n"+
					"want := make([]byte, 128)\ncopy(want, %#v)\n"+
					"s := (*%s)(unsafe.Pointer(&memory))\n%s\n"+
					"if !bytes.Equal(b, want) { fmt.Printf(\"case %d: C has %%x, Go wrote %%x\\n\", want, b) }\n"+
					"copy(b, want)\nif !(%s) { fmt.Println(\"case %d: read otherwise\") }\n}\n",
					b, v.goType, v.set, i, v.read, i)
			}
			main.WriteString("fmt.Println(\"done\")\n}\n")
			assert.Equal(t, "done\n", program{header: "shapes.h", main: main.String()}.run(t, arch))
		})
	}
}

// What has no counterpart in C: names, lists and slices.
func TestGoConveniences(t *testing.T) {
	main := `package main

import "fmt"

func main() {
	fmt.Println(Red, GreenToo, Blue, Color(9))
	fmt.Println(Deep, Flat, Depth(-4))
	fmt.Println(WideWide, Wide(1<<40))
	fmt.Println(Access(0), AccessRead, AccessBoth, AccessFar|AccessWrite, Access(0x30)|AccessRead, Access(0x40))

	third := Item{ID: 3}
	second := Item{ID: 2, Next: &third}
	first := Item{ID: 1, Next: &second}
	for e := range first.All() {
		fmt.Print(e.ID, " ")
	}
	for e := range first.All() {
		fmt.Println(e.ID == 1)
		break
	}
	items := [2]Item{{ID: 7}, {ID: 8}}
	l := List{Head: &items[0], NumItems: 2, Compare: 1, Chain: 2, Cookie: 3}
	fmt.Println(len(l.Items()), l.Items()[1].ID)
	l.NumItems = -1
	fmt.Println(l.Items() == nil, (&List{NumItems: 2}).Items() == nil)
}
`
	p := program{header: "shapes.h", words: "list.head counted-by num_items\n", main: main}
	assert.Equal(t, `RED GREEN BLUE Color(9)
DEEP FLAT Depth(-4)
WIDE Wide(1099511627776)
ACCESS_NONE ACCESS_READ ACCESS_READ|ACCESS_WRITE ACCESS_WRITE|ACCESS_FAR ACCESS_READ|0x30 0x40
1 2 3 true
2 8
true true
`, p.run(t, runtime.GOARCH))
}
