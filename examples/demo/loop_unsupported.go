//go:build !((linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo)))

package main

import (
	"fmt"
	"runtime"

	"github.com/goverbs/goverbs/ibv"
)

// loadLoop cannot load anything here; package ibv cannot either.
func loadLoop(file string) (func(qp *ibv.QP, chain *ibv.RecvWR, warmUp, posts int) int64, error) {
	return nil, fmt.Errorf("load %s: this build for %s/%s loads no C libraries", file, runtime.GOOS, runtime.GOARCH)
}
