package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Arguments that make no sense end the program with 2, and what cannot be read
// or written with 1; gen check, whose 1 is an answer, and gen diff, whose 2 is one
// too, end with 3. Each says what was wrong with what.
func TestWrongArguments(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	release, err := os.ReadFile("../headers/facts/65.0.json.gz")
	require.NoError(t, err)
	file, nowhere := put("file", "no facts"), filepath.Join(dir, "nowhere")
	loop := filepath.Join(dir, "loop", "infiniband")
	require.NoError(t, os.Mkdir(filepath.Dir(loop), 0o755))
	require.NoError(t, os.Symlink(loop, loop))
	out := filepath.Join(dir, "out")
	for _, c := range []struct {
		args   string
		status int
		want   string
	}{
		{"", 2, "no command given"},
		{"invent", 2, `unknown command "invent"`},
		{"facts -target plan9/amd64", 2, `target "plan9/amd64"`},
		{"facts -target linux", 2, "want os/arch or os/arch/libc"},
		{"facts -target linux/amd64/newlib", 2, `unknown C library "newlib"`},
		{"facts -loud", 2, "flag provided but not defined: -loud; gen facts -h explains"},
		{"facts verbs.h", 2, "takes flags only, not \"verbs.h\""},
		{"facts -header=", 2, "-header is empty"},
		{"facts -header /usr/include/infiniband/verbs.h", 2, "-header \"/usr/include/infiniband/verbs.h\": want the header as a C program includes it"},
		{"facts -header ../verbs.h", 2, "want the header as a C program includes it"},
		{"facts -header infiniband//verbs.h", 2, "want the header as a C program includes it"},
		{"facts -header .", 2, "want the header as a C program includes it"},
		{"facts -header infiniband", 1, "/usr/include/infiniband is a folder, not a header"},
		{"facts -header absent.h", 1, "absent.h was not found in /usr/include, /usr/local/include; it is a header of neither"},
		{"facts -header infiniband/verbs.h/x", 1, "infiniband/verbs.h/x was not found"},
		{"facts -I " + filepath.Dir(loop), 1, "too many levels of symbolic links"},
		{"facts -I " + nowhere, 1, "looking for headers in the folder of -I: stat " + nowhere},
		{"facts -I " + file, 1, "-I " + file + " is not a folder"},
		{"facts -o " + dir, 1, "writing " + dir + ": it is a folder; name a file"},
		{"facts -o " + nowhere + "/x.json", 1, "writing " + nowhere + "/x.json: its folder takes no files: no such file or directory"},
		{"facts -o " + file + "/x.json", 1, "its folder takes no files: not a directory"},
		{"facts -all -target linux/amd64", 2, "-all and -target exclude each other"},
		{"facts -tags v1", 2, "it goes with -clone"},
		{"facts -facts " + file + " -version 1.0", 2, "does not go with -I or -version"},
		{"facts -facts " + file, 1, file + ", which is to be a file that gen facts wrote: reading facts: not the JSON of facts"},
		{"facts -facts " + dir, 1, "reading facts: read " + dir + ": is a directory"},
		{"facts -facts " + nowhere, 1, "open " + nowhere + ": no such file or directory"},
		{"facts -facts " + put("empty", ""), 1, "unexpected end of JSON input"},
		{"facts -facts " + put("list", "[1]"), 1, "cannot unmarshal array"},
		{"facts -facts " + put("foreign", `{"name": "x"}`), 1, `schema is "", this generator understands "abifacts/1" and "abifacts-set/1"`},
		{"facts -facts " + put("cut.gz", string(release[:2000])), 1, "unpacking: unexpected EOF"},
		{"facts -facts " + put("cut.json", `{"schema": "abifacts/1", "rec`), 1, "unexpected end of JSON input"},
		{"assert -target linux/amd64 -target linux/arm64", 2, "takes one -target, not 2"},
		{"generate -package=", 2, "-package is empty"},
		{"generate -package _ -o " + out, 2, `-package "_": a Go package cannot have this name`},
		{"generate -package func -o " + out, 2, `-package "func"`},
		{"generate -package a-b -o " + out, 2, `-package "a-b"`},
		{"generate -package ibv/ -o " + out, 2, `-package "ibv/"`},
		{"check -package 1 -o " + out, 2, `-package "1"`},
		{"generate -header infiniband/sa-kern-abi.h -o " + out, 2, `-header infiniband/sa-kern-abi.h: a Go package cannot have the name "sa-kern-abi"; give -package`},
		{"generate -header main.h -o " + out, 2, `-header main.h: a Go package cannot have the name "main"; give -package`},
		{"generate -header x/init.h -o " + out, 2, `-header x/init.h: a Go package cannot have the name "init"; give -package`},
		{"generate -package init -o " + out, 2, `-package "init"`},
		{"check -header infiniband/efadv.h -o ../ibv", 3, "the package there is of infiniband/verbs.h"},
		{"generate -o=", 2, "-o is empty"},
		{"generate -o " + file, 2, "-o " + file + ": it is a file; name the folder of the Go package"},
		{"check -o " + file, 2, "it is a file"},
		{"check -o " + out, 3, "nothing generated is in " + out + ": name the folder of the generated files with -o"},
		{"check", 3, "/gen: name the folder of the generated files with -o"},
		{"check -I " + dir + " -o ../ibv", 3, "infiniband/verbs.h was not found in " + dir},
		{"check -I " + nowhere + " -o ../ibv", 3, "looking for headers in the folder of -I"},
		{"check -o ../ibv", 0, ""},
		{"check -loud", 2, "flag provided but not defined"},
		{"generate -o " + file + "/ibv", 1, "not a directory"},
		{"generate -o /proc/ibv", 1, "making the folder of the Go package: mkdir /proc/ibv"},
		{"diff", 3, "compares two, OLD and NEW, not 0; gen diff -h explains"},
		{"diff -loud", 3, "flag provided but not defined"},
		{"diff 65.0 12.5", 3, "nor a known release"},
		{"diff 65.0 " + file, 3, "not the JSON of facts"},
		{"diff 65.0@x 65.0", 3, `target "x"`},
		{"diff 44.0 65.0", 1, "exit status 1"},
		{"diff 65.0 44.0", 2, "exit status 2"},
		{"diff 65.0 65.0", 0, ""},
		{"facts -h", 0, "help requested"},
	} {
		args := strings.Fields(c.args)
		var said strings.Builder
		err := run(args, &said)
		assert.Equal(t, c.status, exitStatus(args, err), "gen %s: %v", c.args, err)
		if c.status == 3 {
			assert.Empty(t, said.String(), "gen %s", c.args)
		}
		if c.want != "" {
			assert.ErrorContains(t, err, c.want, "gen %s", c.args)
			assert.Equal(t, 1, strings.Count(fmt.Sprint(err), c.want), "gen %s: %v", c.args, err)
		}
	}
	assert.NoDirExists(t, out)
	left, err := filepath.Glob(filepath.Join(dir, ".gen-*"))
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The first line of generated files names the flags, divided by blanks, and is one line.
func TestFlagsAreOneWordEach(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, args := range [][]string{
		{"-header", "a b.h"}, {"-library", "libx y.so"}, {"-library", "libx.so\nfunc init() {}"}, {"-library", "libx\x01.so"},
		{"-import", "none "}, {"-library", "libx.so", "-direct", "x_a, x_b"},
	} {
		args = append([]string{"generate", "-package", "x", "-o", out}, args...)
		err := run(args, io.Discard)
		assert.Equal(t, 2, exitStatus(args, err), "%q: %v", args, err)
		assert.ErrorContains(t, err, "cannot with a blank or a control character", "%q", args)
	}
	assert.NoDirExists(t, out)
}
