//go:build tools

// Package tools pins the versions of the programs that `make test` runs, so
// that every machine checks the code with the same ones.
package tools

import _ "honnef.co/go/tools/cmd/staticcheck"
