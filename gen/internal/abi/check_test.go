package abi_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// A record that lacks any of its numbers is refused by name, whether the number
// is of the record, of a member or of a leaf: 0 would be taken for it.
func TestReadRefusesWhatLacksANumber(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.h"), []byte(`
struct s { char a; short b; int c : 3, d : 7; union { struct { char e; long f[2]; }; struct { int g; } h[2]; }; void *i; };`), 0o644))
	target, err := headers.ParseTarget("linux/amd64")
	require.NoError(t, err)
	facts, err := cheader.Parse(cheader.Source{Header: "a.h", IncludeDirs: []string{dir}}, target)
	require.NoError(t, err)
	var text bytes.Buffer
	require.NoError(t, facts.Write(&text))
	_, err = abi.ReadAll(bytes.NewReader(text.Bytes()))
	require.NoError(t, err)

	var all any
	require.NoError(t, json.Unmarshal(text.Bytes(), &all))
	tried := 0
	var each func(v any)
	each = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, inner := range v {
				each(inner)
			}
		case map[string]any:
			for _, key := range []string{"size", "offset", "bit_size", "bit_offset", "len", "align"} {
				number, there := v[key]
				_, isMember := v["ctype"]
				if !there || number == 0.0 || key == "align" && isMember {
					continue
				}
				delete(v, key)
				mutant, err := json.Marshal(all)
				require.NoError(t, err)
				_, err = abi.ReadAll(bytes.NewReader(mutant))
				assert.ErrorContains(t, err, "reading facts: struct s: ", "without %s of %v", key, v)
				v[key] = number
				tried++
			}
			for key, inner := range v {
				if key != "elem" || v["kind"] == "array" {
					each(inner)
				}
			}
		}
	}
	each(all)
	assert.Greater(t, tried, 50)
}

// An offset that is not a member's own bits', and a record that is not as large as
// the type that it defines, are refused even where nothing else contradicts them.
func TestReadRefusesContradictions(t *testing.T) {
	const record = `{"schema":"abifacts/1","records":[{"name":"s","kind":"struct","size":16,"align":4,"fields":[FIELD]}]}`
	for field, want := range map[string]string{
		`{"name":"a","kind":"int","offset":4,"size":4,"bit_size":3,"bit_offset":2,"ctype":{"kind":"int","size":4,"align":4}}`:                                 "member a: bit 2 is not in byte 4",
		`{"name":"a","kind":"struct","size":8,"ctype":{"kind":"struct","size":8,"align":4,"anon":{"kind":"struct","size":4,"align":4}}}`:                      "4 bytes of members in the 8 of the struct",
		`{"name":"a","kind":"struct","size":8,"ctype":{"kind":"struct","size":8,"align":4,"anon":{"kind":"struct","size":8,"align":4}}}`:                      "",
		`{"name":"a","kind":"array","size":8,"ctype":{"kind":"array","size":8,"align":4,"len":4611686018427387906,"elem":{"kind":"int","size":4,"align":4}}}`: "are not the 8 of the array",
	} {
		_, err := abi.ReadAll(strings.NewReader(strings.Replace(record, "FIELD", field, 1)))
		if want == "" {
			assert.NoError(t, err, field)
		} else {
			assert.ErrorContains(t, err, want, field)
		}
	}
}

// Two facts that disagree about a member do not make a comparison.
func TestReadRefusesAFlatListOfItsOwn(t *testing.T) {
	const record = `{"schema":"abifacts/1","records":[{"name":"s","kind":"struct","size":8,"align":4,"fields":[
		{"name":"a","type":"int","kind":"int","offset":4,"size":4,"ctype":{"kind":"int","size":4,"align":4,"name":"int"}}],"flat":[FLAT]}]}`
	for flat, want := range map[string]string{
		`{"path":"a","type":"int","offset":4,"size":4}`: "",
		``:                                   "",
		`{"path":"a","type":"int","size":4}`: "struct s: the flat list has a otherwise than the member a",
		`{"path":"a","type":"int","offset":4,"size":4,"bit_size":3}`: "struct s: the flat list has a otherwise than the member a",
		`{"path":"b","type":"int","offset":4,"size":4}`:              "struct s: the flat list has b otherwise than the member a",
		`{"path":"a","type":"int","offset":4,"size":4},{"path":"b"}`: "struct s: the flat list has 2 members, not 1",
	} {
		all, err := abi.ReadAll(strings.NewReader(strings.Replace(record, "FLAT", flat, 1)))
		if want != "" {
			assert.ErrorContains(t, err, want, flat)
		} else if assert.NoError(t, err, flat) {
			assert.Len(t, all[0].Records[0].Flat, 1, flat)
		}
	}
}
