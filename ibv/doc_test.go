package ibv

import (
	"go/ast"
	"go/doc"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/apidoc"
)

func documentation(t *testing.T) *doc.Package {
	t.Helper()
	p, err := apidoc.Read(".", "github.com/goverbs/goverbs/ibv")
	require.NoError(t, err)
	return p
}

// A newcomer finds a constructor under what it makes, and says that of all
// exported functions. A variable that is declared to be an error takes all
// functions with an error from go doc's types: that is why there is none.
func TestFunctionsAreUnderTypes(t *testing.T) {
	// These have to do with numbers, with the process, and with slices, not with the package's types.
	others := []string{"BestGIDOf", "DirectCalls", "FlowLabelToUDPSport", "ForkInit", "IncRKey"}
	for _, f := range documentation(t).Funcs {
		if ast.IsExported(f.Name) {
			assert.Contains(t, others, f.Name, "go doc lists it with no type")
		}
	}
}

// Every exported declaration says what it is, in a sentence, and last what it is
// in C, if it is something there.
func TestEverythingIsDocumented(t *testing.T) {
	for name, text := range apidoc.Declarations(documentation(t)) {
		if apidoc.IsExported(name) {
			assert.Regexp(t, `[.)?]\n(\nC: [^.\n]+\n)?$`, text, "the documentation of %s is a sentence", name)
		}
	}
}

// What the package's introduction refers to is there.
func TestLinksOfTheIntroduction(t *testing.T) {
	p := documentation(t)
	there := apidoc.Declarations(p)
	links := apidoc.Links(p.Doc)
	require.NotEmpty(t, links)
	for _, link := range links {
		if link[0] < 'a' {
			assert.Contains(t, there, link, "the introduction links to it")
		}
	}
}
