package gosrc

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/headers"
)

// An entry that no declaration asks for describes something that is gone, or
// is misspelt.
func TestWordsAreUsed(t *testing.T) {
	stale := func(text string) []string {
		table, err := parseWords(text)
		require.NoError(t, err)
		for _, facts := range []*abi.Facts{newest(t), factsFor(t, "freebsd-15", "freebsd/amd64/freebsd")} {
			_, err = declare(facts, table, nil, &overview{}, nil)
			require.NoError(t, err)
		}
		return table.stale()
	}
	assert.Empty(t, stale(wordsText), "words.txt describes what infiniband/verbs.h does not declare")
	for member, tag := range mustWords(t).enum {
		assert.True(t, slices.ContainsFunc(newest(t).Enums, func(e *abi.Enum) bool { return e.Name == tag }), "%s: there is no enum %s", member, tag)
	}
	assert.Equal(t, []string{"ibv_gone", "ibv_recv_wr.gone"},
		stale(wordsText+"\nibv_recv_wr.gone\n\tIt is not there.\nibv_gone\n\tNor is this.\n"))
}

// Whatever the library declares of its own is described. The kernel's interface
// has most of it once more, in enumerations that say so.
func TestWordsCoverTheLibrary(t *testing.T) {
	table := mustWords(t)
	_, err := declare(newest(t), table, nil, &overview{}, nil)
	require.NoError(t, err)
	for key := range table.used {
		if !strings.HasPrefix(strings.ToLower(key), "ib_uverbs_") {
			assert.NotEmpty(t, table.text[key], "words.txt has nothing of %s", key)
		}
	}
}

// The descriptions of types and members go on from a name, and all of them end
// as sentences do.
func TestWordsReadOn(t *testing.T) {
	for key, text := range mustWords(t).text {
		if key == strings.ToLower(key) || strings.Contains(key, ".") {
			assert.Regexp(t, `^[a-z]`, text, key)
		} else {
			assert.Regexp(t, `^[A-Z0-9]`, text, key)
		}
		assert.Regexp(t, `[^.][.?]$`, text, key)
	}
}

// newest is what the newest release declares.
func newest(t *testing.T) *abi.Facts { return factsFor(t, "65.0", "linux/amd64/glibc") }

func factsFor(t *testing.T, release, target string) *abi.Facts {
	t.Helper()
	text, err := headers.Facts(release)
	require.NoError(t, err)
	all, err := abi.ReadAll(bytes.NewReader(text))
	require.NoError(t, err)
	i := slices.IndexFunc(all, func(f *abi.Facts) bool { return f.Target() == target })
	require.GreaterOrEqual(t, i, 0)
	return all[i]
}

func mustWords(t *testing.T) *words {
	t.Helper()
	table, err := parseWords(wordsText)
	require.NoError(t, err)
	return table
}

func TestWordsForm(t *testing.T) {
	w, err := parseWords("# a remark\n\nibv_a\n\tFirst line,\n\tsecond line.\nibv_a.b counted-by c\nibv_a.d enum ibv_e\nibv_f by-pointer\nibv_g object\n")
	require.NoError(t, err)
	assert.Equal(t, " First line, second line.", w.about("ibv_a"))
	assert.Equal(t, "", w.about("ibv_b"))
	assert.Equal(t, map[string]string{"ibv_a.b": "c"}, w.counted)
	assert.Equal(t, map[string]string{"ibv_a.d": "ibv_e"}, w.enum)
	assert.Equal(t, map[string]bool{"ibv_f": true}, w.pointer)
	assert.Equal(t, map[string]bool{"ibv_g": true}, w.object)
	for text, want := range map[string]string{
		"\tx":            "line 1: a description of nothing",
		"a\na":           "line 2: a is described twice",
		"a counts b":     `line 1: "a counts b" is neither`,
		"a enum":         `line 1: "a enum" is neither`,
		"a counted-by b": "",
	} {
		_, err := parseWords(text)
		if want == "" {
			assert.NoError(t, err, text)
		} else {
			assert.ErrorContains(t, err, want, text)
		}
	}
}
