package abi_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/goverbs/goverbs/gen/internal/abi"
)

// Whatever a caller of a function has to know is in its prototype, so that a change
// of it is one.
func TestPrototype(t *testing.T) {
	number := &abi.Type{Kind: abi.Int, Size: 4, Name: "int"}
	f := &abi.Function{Name: "f", Result: number, Params: []abi.Parameter{{Name: "a", Type: number}}}
	assert.Equal(t, "int f(int)", f.Prototype())
	f.Variadic = true
	assert.Equal(t, "int f(int, ...)", f.Prototype())
}
