package cheader

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"modernc.org/cc/v4"
)

// effects are what macros do besides what they stand for. Those of a body are lost
// when it is blanked.
type effects struct {
	pragmas []string
	counted string // the value of __COUNTER__ at the end
}

// effects preprocesses what config and sources say, writes that, and tells the effects.
func (t *tree) effects(config cc.Config, sources []cc.Source, w io.Writer) effects {
	config.FS, config.PragmaHandler = t, t.pragma
	last := &lastWord{Writer: w}
	// Whatever is wrong is found and told when the headers are parsed.
	_ = cc.Preprocess(&config, append(slices.Clip(sources), cc.Source{Name: "<counter>", Value: "__COUNTER__\n"}), last)
	return effects{t.pragmas, last.word}
}

// lastWord keeps the last word that is written, token by token.
type lastWord struct {
	io.Writer
	word string
}

func (w *lastWord) Write(token []byte) (int, error) {
	if word := bytes.TrimSpace(token); len(word) > 0 {
		w.word = string(word)
	}
	return w.Writer.Write(token)
}

// unchanged is an error if headers without bodies have other effects than with them.
func (t *tree) unchanged(config cc.Config, sources []cc.Source, with effects) error {
	tree := t.again()
	tree.bodies = t.bodies
	without := tree.effects(config, sources, io.Discard)
	what := ""
	switch {
	case !slices.Equal(with.pragmas, without.pragmas):
		what = "has a pragma by way of a macro, which changes what stands behind it"
	case with.counted != without.counted && without.counted != "0":
		what = "uses __COUNTER__, and so does what stands outside of bodies"
	default:
		return nil
	}
	t.refused = fmt.Errorf("the C front end does not read the bodies of all functions, and they cannot be left out: one %s", what)
	return t.refused
}

// sourceOf is what tokens are written like.
func sourceOf(tokens []cc.Token) string {
	words := make([]string, len(tokens))
	for i, token := range tokens {
		words[i] = token.SrcStr()
	}
	return strings.Join(words, " ")
}
