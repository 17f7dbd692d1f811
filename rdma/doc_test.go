package rdma

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/apidoc"
)

// Every exported declaration says what it is, in sentences, and what it links to is there, here or in ibv.
func TestDocumentation(t *testing.T) {
	p, err := apidoc.Read(".", "github.com/goverbs/goverbs/rdma")
	require.NoError(t, err)
	raw, err := apidoc.Read("../ibv", "github.com/goverbs/goverbs/ibv")
	require.NoError(t, err)
	here, there := apidoc.Declarations(p), apidoc.Declarations(raw)
	texts := map[string]string{"the introduction": p.Doc}
	for name, text := range here {
		if apidoc.IsExported(name) {
			assert.Regexp(t, apidoc.Sentence, text, "the documentation of %s is a sentence", name)
			texts[name] = text
		}
	}
	for name, text := range texts {
		for _, link := range apidoc.Links(text) {
			if of, what, _ := strings.Cut(link, "."); of == "ibv" {
				assert.Contains(t, there, what, "%s links to it", name)
			} else if of[0] < 'a' {
				assert.Contains(t, here, link, "%s links to it", name)
			}
		}
	}
}
