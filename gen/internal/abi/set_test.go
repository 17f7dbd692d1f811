package abi_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/gen/internal/abi"
	"github.com/goverbs/goverbs/gen/internal/cheader"
	"github.com/goverbs/goverbs/headers"
)

// A set gives back, for every target, what was put into it.
func TestSetKeepsEverything(t *testing.T) {
	var all []*abi.Facts
	for _, target := range headers.DistinctTargets("linux") {
		f, err := cheader.Parse(cheader.Source{Header: "infiniband/verbs.h", IncludeDirs: []string{"/usr/include"}}, target)
		require.NoError(t, err)
		all = append(all, f)
	}
	require.Greater(t, len(all), 8)
	var b bytes.Buffer
	require.NoError(t, abi.WriteSet(&b, all))
	got, err := abi.ReadAll(&b)
	require.NoError(t, err)
	require.Len(t, got, len(all))
	for i := range all {
		assert.Equal(t, text(t, all[i]), text(t, got[i]), all[i].Target())
	}
}

// A few bytes that unpack to more than memory holds are refused.
func TestReadAllHasALimit(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range 257 {
		_, err := z.Write(zeros)
		require.NoError(t, err)
	}
	require.NoError(t, z.Close())
	_, err := abi.ReadAll(&packed)
	require.ErrorContains(t, err, "unpacking: more than 256 MiB")
}

func text(t *testing.T, f *abi.Facts) string {
	var b bytes.Buffer
	require.NoError(t, f.Write(&b))
	return b.String()
}

func TestReadRefusesWhatIsNotFacts(t *testing.T) {
	for in, want := range map[string]string{
		``:                            "unexpected end of JSON input",
		`[]`:                          "cannot unmarshal",
		`{}`:                          `schema is ""`,
		`{"schema":"abifacts/9"}`:     `schema is "abifacts/9"`,
		`{"schema":"abifacts-set/1"}`: "a set without a first target",
		"\x1f\x8bjunk":                "unexpected EOF",
		`{"schema":"abifacts/1","records":[null]}`:                                                                                         "an empty record",
		`{"schema":"abifacts/1","records":[{"kind":"struct","name":"s","align":1,"fields":[{"name":"m"}]}]}`:                               "struct s: member m: no type",
		`{"schema":"abifacts/1","functions":[{"name":"f"}]}`:                                                                               "function f: no result type",
		`{"schema":"abifacts/1","functions":[{"name":"f","result":{"kind":"pointer"}}]}`:                                                   "function f: half a type, pointer",
		`{"schema":"abifacts-set/1","first":{"schema":"abifacts/1"},"others":[{"on":1,"facts":{}}]}`:                                       "a target that says nothing",
		`{"schema":"abifacts-set/1","first":{"schema":"abifacts/1"},"others":[{"on":0,"facts":null}]}`:                                     "a target that says nothing",
		`{"schema":"abifacts/1","goos":"../x"}`:                                                                                            `"../x" is no part of a target`,
		`{"schema":"abifacts/1","macros":[{"name":"A\nB","value":"1"}]}`:                                                                   `"A\nB" is not a name`,
		`{"schema":"abifacts/1","macros":[{"name":"A","value":"x"}]}`:                                                                      `macro A: "A" of the value "x"`,
		`{"schema":"abifacts/1","enums":[{"name":"e","size":3}]}`:                                                                          "enum e: 0 values of 3 bytes cannot be",
		`{"schema":"abifacts/1","records":[{"kind":"int"}]}`:                                                                               `"int" is no kind of record`,
		`{"schema":"abifacts/1","since":{"macro A":"x\ny"}}`:                                                                               `macro A: "x\ny" is no release`,
		`{"schema":"abifacts/1","functions":[{"name":"f","result":{"kind":"int","size":3,"align":1}}]}`:                                    "function f: 3 bytes aligned to 1 cannot be the int",
		`{"schema":"abifacts-set/1","first":{"schema":"abifacts/1"},"others":[{"on":0,"facts":{"schema":"abifacts/1","records":[null]}}]}`: "an empty record",
	} {
		_, err := abi.ReadAll(strings.NewReader(in))
		assert.ErrorContains(t, err, want, in)
	}
}
