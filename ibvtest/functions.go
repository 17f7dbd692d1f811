//go:build !freebsd

package ibvtest

import (
	"slices"
	"strings"

	"github.com/goverbs/goverbs/internal/ccall"
)

// Functions are the names that a [Call] may have, sorted, for tests that have each control verb fail.
func Functions() []string {
	var names []string
	for _, list := range []map[string]symbol{symbols, unsupported} {
		for name := range list {
			if _, is := global[name]; !is {
				names = append(names, manPage(name))
			}
		}
	}
	names = append(append(names, operationNames...), copiesFromDM)
	slices.Sort(names)
	return slices.Compact(names)
}

// operationNames are the man pages' names of providers' operations that are served.
var operationNames []string

// manPage is the man page's name of a function: libibverbs exports some with an underscore in front, and providers' operations
// have no prefix.
func manPage(function string) string {
	if name, is := exceptions[function]; is {
		return name
	}
	function = strings.TrimPrefix(function, "_")
	if strings.HasPrefix(function, "ibv_") {
		return function
	}
	return "ibv_" + function
}

// exceptions are those whose names are others.
var exceptions = map[string]string{
	"ibv_reg_mr_iova2": "ibv_reg_mr_iova", // or ibv_reg_mr: see called
	"query_rt_values":  "ibv_query_rt_values_ex",
}

// called is the man page's name of what a program has called.
func called(function string, a ccall.Args) string {
	if function == "ibv_reg_mr_iova2" && a[1] == a[3] { // C's header makes it of either verb
		return "ibv_reg_mr"
	}
	return manPage(function)
}
