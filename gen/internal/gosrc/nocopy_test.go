package gosrc

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// The library's objects are those that it hands out pointers to.
func TestObjects(t *testing.T) {
	source := allGo(t, []*abi.Facts{newest(t)}, wordsText)
	var marked []string
	for _, m := range regexp.MustCompile(`(?m)^type (\w+) struct \{\n\t_ structs\.HostLayout\n\t_ noCopy\n`).FindAllStringSubmatch(source, -1) {
		marked = append(marked, m[1])
	}
	assert.Equal(t, "DM DMAH PD TD XRCD MR MW RWQIndTable SRQ WQ QP CompChannel CQ CQEx AH Flow FlowAction Device Context CompCntr Counters",
		strings.Join(marked, " "))
}

// go vet reports copies of objects, and of what has one in it, and nothing else.
func TestVetSeesCopies(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	text := "struct device { int a; }; struct object { struct device *context; long b; }; struct outer { struct object o; };\n" +
		"struct plain { struct device *d; struct object *o; };\n"
	files, err := generate([]*abi.Facts{textFacts(t, text, "amd64")}, Options{Package: "main", Command: "test"}, "device object\n")
	require.NoError(t, err)
	write("generated.go", string(files["zz_generated.go"]))
	write("go.mod", "module copies\n\ngo 1.26\n")
	write("main.go", `package main

func main() {
	d, o, u, p := new(Device), new(Object), new(Outer), new(Plain)
	a := *d
	b := *o
	c := *u
	e := *p
	println(&a, &b, &c, &e)
	*o = Object{}
}
`)
	vet := exec.Command("go", "vet", ".")
	vet.Dir, vet.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off", "CGO_ENABLED=0")
	out, err := vet.CombinedOutput()
	require.Error(t, err)
	var lines []string
	for _, m := range regexp.MustCompile(`main\.go:(\d+):.* copies lock value`).FindAllStringSubmatch(string(out), -1) {
		lines = append(lines, m[1])
	}
	assert.Equal(t, []string{"5", "6", "7"}, lines, "%s", out)
}
