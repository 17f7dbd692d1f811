// Command vet has the analyzers of go vet, and takes what is imported from its source. The go command compiles everything
// first, with the standard library, which for a target that nothing else is compiled for takes ten times as long.
package main

import (
	"golang.org/x/tools/go/analysis/multichecker"
	"golang.org/x/tools/go/analysis/suite/vet"
)

func main() { multichecker.Main(vet.Suite...) }
