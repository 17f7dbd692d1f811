// Package headers holds what the generator reads besides rdma-core's own
// headers: stub system headers, and the targets that Go code is written for.
// Everything is embedded, so the generator gives the same answer on every
// machine.
package headers

import (
	"embed"
	"io/fs"
)

//go:embed stub
var stubs embed.FS

// Stubs is the file system of the stub system headers: just the types that
// RDMA headers use, with the sizes that the target's predefined macros give.
func Stubs() fs.FS {
	sub, err := fs.Sub(stubs, "stub")
	if err != nil {
		// The folder is embedded above: the program would not have been built.
		panic(err)
	}
	return sub
}
