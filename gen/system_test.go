package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Headers of one system are refused for targets of another, whichever command
// reads them, and nothing is written. The header may be another that includes
// one of them.
func TestHeadersOfAnotherSystem(t *testing.T) {
	own := include(t, "my.h", "#include <infiniband/verbs.h>\nstruct mine { struct ibv_qp *qp; };\n")
	freebsd := include(t, "infiniband/types.h", "typedef unsigned int __be32;\n")
	require.NoError(t, os.WriteFile(filepath.Join(freebsd, "infiniband", "verbs.h"),
		[]byte("#include <infiniband/types.h>\nstruct ibv_a { __be32 x; };\n"), 0o644))
	out := filepath.Join(t.TempDir(), "out")
	const linux = "the headers in /usr/include are Linux's, as /usr/include/infiniband/verbs_api.h shows; name the folder of FreeBSD's headers with -I"
	for args, want := range map[string]string{
		"generate -header infiniband/mlx5dv.h -target freebsd/amd64 -o " + out:    "reading infiniband/mlx5dv.h for freebsd/amd64: " + linux,
		"generate -target linux/amd64 -target freebsd/arm64 -o " + out:            "reading infiniband/verbs.h for freebsd/arm64: " + linux,
		"check -target freebsd/amd64 -o ../ibv":                                   linux,
		"facts -target freebsd/amd64":                                             linux,
		"facts -header rdma/ib_user_verbs.h -target freebsd/amd64":                linux,
		"facts -I " + own + " -I /usr/include -header my.h -target freebsd/amd64": "for freebsd/amd64: " + linux,
		"assert -target freebsd/amd64":                                            linux,
		"diff 65.0 /usr/include@freebsd/amd64":                                    linux,
		"assert -I " + freebsd + " -target linux/amd64":                           freebsd + " are FreeBSD's, as " + freebsd + "/infiniband/types.h shows",
	} {
		assert.ErrorContains(t, genFails(t, strings.Fields(args)...), want, args)
	}
	assert.NoDirExists(t, out)
	assert.Contains(t, gen(t, "facts", "-I", freebsd), `"goos": "freebsd"`)
	assert.Contains(t, gen(t, "facts", "-I", freebsd, "-target", "freebsd/arm64"), `"goarch": "arm64"`)
}

// C that has nothing of a system is read for all, wherever it lies.
func TestPlainHeadersAreOfAnySystem(t *testing.T) {
	plain := include(t, "my.h", "#include <stdint.h>\nstruct mine { uint64_t x; };\n")
	require.NoError(t, os.Mkdir(filepath.Join(plain, "infiniband"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(plain, "infiniband", "verbs_api.h"), nil, 0o644))
	for _, dir := range []string{plain, include(t, "infiniband/my.h", "struct mine { long x; };\n")} {
		header := "my.h"
		if dir != plain {
			header = "infiniband/my.h"
		}
		for _, target := range []string{"linux/amd64", "freebsd/amd64"} {
			assert.Contains(t, gen(t, "assert", "-I", dir, "-header", header, "-target", target), "sizeof(struct mine)) == 8", target)
		}
	}
}
