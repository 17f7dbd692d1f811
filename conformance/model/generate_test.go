package model

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// The same seed makes the same sequence, and sequences have some of everything.
func TestGenerate(t *testing.T) {
	kinds, opcodes, types := map[string]int{}, map[ibv.WROpcode]int{}, map[ibv.QPType]int{}
	for seed := range uint64(200) {
		s := Generate(seed, Length, Latitude{})
		require.Equal(t, s, Generate(seed, Length, Latitude{}))
		for _, c := range s {
			kinds[reflect.TypeOf(c).Name()]++
			switch c := c.(type) {
			case PostSend:
				for _, wr := range c.WRs {
					opcodes[wr.Opcode]++
				}
			case CreateQP:
				types[c.Type]++
			}
		}
	}
	t.Log(kinds, opcodes, types)
	require.Len(t, kinds, 22)
	require.Len(t, opcodes, len(operations))
	require.Len(t, types, 3)
}
