//go:build tools

// Package tools says where the versions of the programs that `make test` runs are pinned, so that every machine checks the
// code with the same ones: in test/tools/go.mod. That is a module of its own, so that whoever imports goverbs need not
// hear of them.
package tools
