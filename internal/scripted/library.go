package scripted

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/internal/dl"
)

// Object is something in C, with the library whose functions take it first.
type Object struct {
	T       testing.TB
	Library *dl.Library
	C       uintptr
}

// Symbol is the address of something in the library.
func (o *Object) Symbol(name string) uintptr {
	o.T.Helper()
	address, err := o.Library.Symbol(name)
	require.NoError(o.T, err)
	return address
}

// Call calls a function that takes the object first.
//
//go:uintptrescapes
func (o *Object) Call(name string, args ...uintptr) uintptr {
	o.T.Helper()
	result, _ := dl.Call(o.Symbol(name), append([]uintptr{o.C}, args...)...)
	return result
}

// Part is another object in C that a function gives, which is never freed.
func Part[T any](o *Object, name string) *T { return clib.At[T](o.Call(name)) }
