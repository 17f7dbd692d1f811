package cheader_test

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"modernc.org/cc/v4"

	"github.com/goverbs/goverbs/gen/internal/gcc"
	"github.com/goverbs/goverbs/headers"
)

// stubNames lists the stub headers.
func stubNames(t *testing.T) (names []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(headers.Stubs(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	}))
	require.Greater(t, len(names), 40)
	return names
}

// probes is C that states what a stub header does, in a form that can be held
// against a compiler: a record for the size, the alignment and the members of each
// type, and a macro for each macro.
func probes(t *testing.T, stub string, target headers.Target) (text string, types []string) {
	t.Helper()
	abi, err := cc.NewABI(target.OS, target.Arch)
	require.NoError(t, err)
	ast, err := cc.Translate(&cc.Config{ABI: abi, FS: headers.Stubs(), FSOnly: true, IncludePaths: []string{"."}, SysIncludePaths: []string{"."},
		EvalAllMacros: true, UnsignedEnums: true, ABILayout: true, HasBuiltin: target.HasBuiltin}, []cc.Source{
		{Name: "<predefined>", Value: target.Predefined()},
		{Name: "<builtin>", Value: cc.Builtin},
		{Name: "<stub>", Value: "#include <" + stub + ">\n"},
	})
	require.NoError(t, err, stub)
	names := map[string]cc.Type{}
	for _, nodes := range ast.Scope.Nodes {
		for _, n := range nodes {
			if n.Position().Filename != stub {
				continue
			}
			switch n := n.(type) {
			case *cc.Declarator:
				if n.IsTypename() && !n.Type().IsIncomplete() {
					names[n.Name()] = n.Type()
				}
			case *cc.StructOrUnionSpecifier:
				if tag := n.Token.SrcStr(); n.Case == cc.StructOrUnionSpecifierDef && tag != "" {
					names[n.StructOrUnion.Token.SrcStr()+" "+tag] = n.Type()
				}
			}
		}
	}
	for name := range names {
		types = append(types, name)
	}
	slices.Sort(types)
	for i, name := range types {
		text += fmt.Sprintf("struct probe%d { char start; %s probed;", i, name)
		if record, ok := names[name].(interface {
			NumFields() int
			FieldByIndex(int) *cc.Field
		}); ok {
			for j := range record.NumFields() {
				if f := record.FieldByIndex(j); f.Name() != "" && !strings.HasPrefix(f.Name(), "__") {
					text += fmt.Sprintf(" char offset%d[offsetof(%s, %s) + 1]; char size%d[sizeof(((%s *)0)->%s)];", j, name, f.Name(), j, name, f.Name())
				}
			}
		}
		text += " };\n"
	}
	var macros []string
	for name, m := range ast.Macros {
		if m.Position().Filename == stub && !m.IsFnLike && !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "STUB_") {
			if _, ok := m.Value().(cc.Int64Value); ok || m.Value() != cc.Unknown {
				macros = append(macros, name)
			}
		}
	}
	slices.Sort(macros)
	for _, name := range macros {
		text += fmt.Sprintf("#define PROBE_%s (%s)\n", name, name)
	}
	return text, append(types, macros...)
}

// What the stub headers state of a type, its size, its alignment and its members,
// is what the C library's own header gives a compiler, and so are their numbers. A
// type that the C library does not have fails here, too: nothing is left unheld.
func TestStubsAgreeWithTheCLibrary(t *testing.T) {
	for _, name := range []string{
		"linux/amd64", "linux/amd64/musl", "linux/386", "linux/arm64", "linux/loong64", "linux/ppc64le", "linux/riscv64", "linux/s390x",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, err := headers.ParseTarget(name)
			require.NoError(t, err)
			compiler, err := gcc.Hosted(target.Arch, target.Libc)
			if target.Arch == "loong64" && err != nil {
				t.Skip(err) // It is no package of all systems: test/cross brings it and runs this test.
			}
			require.NoError(t, err)
			held := 0
			for _, stub := range stubNames(t) {
				text, stated := probes(t, stub, target)
				if len(stated) == 0 {
					continue
				}
				held += len(stated)
				text = "#include <" + stub + ">\n#include <stddef.h>\n" + text
				facts, dir, err := parseFor(t, text, target)
				require.NoError(t, err, "%s\n%s", stub, text)
				ok, said, err := compiler.Accepts("#define _GNU_SOURCE\n"+assertions(t, facts), dir)
				require.NoError(t, err)
				assert.True(t, ok, "<%s> states %v\n%s", stub, stated, said)
			}
			assert.Greater(t, held, 120)
		})
	}
}
