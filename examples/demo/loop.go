//go:build (linux && !android && (amd64 || arm64 || loong64 || ppc64le || riscv64 || (s390x && (cgo || go1.27)))) || (freebsd && (amd64 || arm64) && (cgo || goverbs_fakecgo))

package main

import (
	"github.com/ebitengine/purego"

	"github.com/goverbs/goverbs/ibv"
)

// loadLoop loads the loop in C.
func loadLoop(file string) (postLoop func(qp *ibv.QP, chain *ibv.RecvWR, warmUp, posts int) int64, err error) {
	library, err := purego.Dlopen(file, purego.RTLD_NOW)
	if err != nil {
		return nil, err
	}
	purego.RegisterLibFunc(&postLoop, library, "post_loop")
	return postLoop, nil
}
