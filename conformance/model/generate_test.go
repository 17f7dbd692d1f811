package model

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// The same seed makes the same sequence, and sequences have some of everything.
func TestGenerate(t *testing.T) {
	kinds := map[string]int{}
	for seed := range uint64(200) {
		s := Generate(seed, Length, Latitude{})
		require.Equal(t, s, Generate(seed, Length, Latitude{}))
		for _, c := range s {
			kinds[reflect.TypeOf(c).Name()]++
		}
	}
	t.Log(kinds)
	require.Len(t, kinds, 20)
}
