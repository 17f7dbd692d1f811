//go:build 386 || arm || mips || mipsle || plan9

package platform

var _ int = "github.com/goverbs/goverbs/ibv is for systems of 64 bits, and not for Plan 9: give the files that import it a build constraint"
