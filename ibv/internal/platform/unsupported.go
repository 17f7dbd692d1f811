//go:build !((freebsd && (amd64 || arm64)) || (linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)))

package platform

var _ int = "github.com/goverbs/goverbs/ibv is for 64-bit Linux and FreeBSD, on the processors that its documentation lists: give the files that import it a build constraint"
