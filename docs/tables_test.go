//go:build !freebsd

package docs

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/conformance"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/internal/apidoc"
)

// The table of providers is what they are.
func TestProviders(t *testing.T) {
	rows := [][]string{{"", "queue full", "too many entries", "no entries", "receive in RESET", "receive, but it has an SRQ"}}
	for _, p := range ibvtest.Providers() {
		if p.Name == "" { // what the package has for what is not said
			p.TooLong.Errno, p.Attached.Errno, p.Reset = syscall.EINVAL, syscall.EINVAL, &ibvtest.Refusal{Errno: syscall.EINVAL}
		}
		row := []string{cmp.Or(p.Name, "the man pages")}
		for _, r := range []*ibvtest.Refusal{&p.Full, &p.TooLong, p.NoEntries, p.Reset, &p.Attached} {
			text := "taken"
			if r != nil {
				text = refused(*r)
			}
			row = append(row, text)
		}
		rows = append(rows, row)
	}
	table(t, "ibvtest.md", "providers", rows)
}

// refused is a refusal in a few words.
func refused(r ibvtest.Refusal) string {
	text := map[syscall.Errno]string{0: "ENOMEM", syscall.ENOMEM: "ENOMEM", syscall.EINVAL: "EINVAL"}[r.Errno]
	switch r.Result {
	case ibvtest.NegativeErrno:
		text = "-" + text
	case ibvtest.MinusOne:
		text = "-1, errno " + text
	}
	if r.BadWR == ibvtest.BadWRUnset {
		text += ", bad_wr unset"
	}
	return text
}

// The table of differences is the one that scenarios go by.
func TestDifferences(t *testing.T) {
	rows := [][]string{{"provider", "does without, or differently", "because"}}
	for _, d := range conformance.Differences() {
		provider := d.Provider
		if d.Before != 0 {
			provider += fmt.Sprintf(" before %d", d.Before)
		}
		if d.SinceLinux != (conformance.Linux{}) {
			provider += fmt.Sprintf(" since Linux %v", d.SinceLinux)
		}
		if d.BeforeLinux != (conformance.Linux{}) {
			provider += fmt.Sprintf(" before Linux %v", d.BeforeLinux)
		}
		rows = append(rows, []string{provider, d.Property.Name, d.Reason})
	}
	slices.SortStableFunc(rows[1:], func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	table(t, "conformance.md", "differences", rows)
}

// table holds a page to a table, which stands in it between comments that name it.
func table(t *testing.T, page, name string, rows [][]string) {
	t.Helper()
	var b strings.Builder
	for i, row := range rows {
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
		if i == 0 {
			b.WriteString("|" + strings.Repeat("---|", len(row)) + "\n")
		}
	}
	made(t, page, name, b.String())
}

// The functions that hooks are told of are those of the package.
func TestFunctions(t *testing.T) {
	var b strings.Builder
	width := 0
	for i, name := range ibvtest.Functions() {
		word := "`" + name + "`"
		switch {
		case i == 0:
		case width+2+len(word) > 116:
			b.WriteString(",\n")
			width = 0
		default:
			b.WriteString(", ")
			width += 2
		}
		b.WriteString(word)
		width += len(word)
	}
	made(t, "ibvtest.md", "functions", b.String()+"\n")
}

// made holds a page to a text, which stands in it between comments that name it.
func made(t *testing.T, page, name, content string) {
	t.Helper()
	text := []byte(read(t, page))
	between := regexp.MustCompile(`(?s)(<!-- made from code: ` + name + ` -->\n\n).*?(\n<!-- end -->)`)
	require.True(t, between.Match(text), "%s has no place for %s", page, name)
	want := between.ReplaceAllFunc(text, func(all []byte) []byte {
		parts := between.FindSubmatch(all)
		return slices.Concat(parts[1], []byte(content), parts[2])
	})
	if *write {
		require.NoError(t, os.WriteFile(page, want, 0o644))
		return
	}
	require.True(t, bytes.Equal(want, text), "%s in %s is not what the code says: go test ./docs -write", name, page)
}

// The page about ibvtest has all that a test can say to it.
func TestPageOfIBVTest(t *testing.T) {
	page := read(t, "ibvtest.md")
	p, err := apidoc.Read("../ibvtest", "github.com/goverbs/goverbs/ibvtest")
	require.NoError(t, err)
	var names []string
	for _, typ := range p.Types {
		switch typ.Name {
		case "Option":
			for _, f := range typ.Funcs {
				names = append(names, f.Name)
			}
		case "Fabric", "Device":
			for _, m := range typ.Methods {
				names = append(names, m.Name)
			}
		}
	}
	names = slices.DeleteFunc(names, func(name string) bool { return !apidoc.IsExported(name) })
	require.Greater(t, len(names), 15)
	for _, name := range names {
		assert.True(t, regexp.MustCompile(`\b`+name+`\b`).MatchString(page), "%s is not on the page", name)
	}
}
