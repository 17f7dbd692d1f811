package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// otherLibraries are the headers of rdma-core's other libraries, and the libraries. Not
// every release has all of them.
var otherLibraries = []struct{ header, library string }{
	{"infiniband/mlx5dv.h", "libmlx5.so.1"},
	{"infiniband/mlx4dv.h", "libmlx4.so.1"},
	{"infiniband/efadv.h", "libefa.so.1"},
	{"infiniband/manadv.h", "libmana.so.1"},
	{"infiniband/hnsdv.h", "libhns.so.1"},
	{"infiniband/umad.h", "libibumad.so.3"},
	{"infiniband/mad.h", "libibmad.so.5"},
	{"rdma/rdma_cma.h", "librdmacm.so.1"},
	{"rdma/rdma_verbs.h", "librdmacm.so.1"},
	{"rdma/rsocket.h", "librdmacm.so.1"},
}

// lintTargets are the targets that the Makefile vets for.
func lintTargets(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	require.NoError(t, err)
	m := regexp.MustCompile(`(?m)^TARGETS := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	require.NotNil(t, m)
	return strings.Fields(strings.ReplaceAll(string(m[1]), "\\\n", " "))
}

// librariesMain calls functions of each library that need no device.
const librariesMain = `package main

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"

	"example.org/bindings/efadv"
	"example.org/bindings/mad"
	"example.org/bindings/manadv"
	"example.org/bindings/mlx4dv"
	"example.org/bindings/mlx5dv"
	"example.org/bindings/rdma_cma"
	"example.org/bindings/rsocket"
	"example.org/bindings/umad"
)

// foreign is a device that is of none of these providers, and a queue. What stands
// before and behind them is the library's.
type foreign struct {
	_      [4096]byte
	device ibv.Device
	cq     ibv.CQEx
	_      [4096]byte
}

func main() {
	f := new(foreign)
	fmt.Println(mlx5dv.IsSupported(&f.device))
	fmt.Println(errors.Is(mlx5dv.InitObj(&mlx5dv.Obj{}, 0), syscall.EINVAL))
	action, err := mlx5dv.DrActionCreateDrop()
	fmt.Println(action != nil, err)
	fmt.Println(mlx5dv.DrActionDestroy(action))
	fmt.Println(mlx4dv.InitObj(&mlx4dv.Obj{}, 0))
	cq, err := efadv.CQFromIbvCQEx(&f.cq)
	fmt.Println(cq != nil, err)
	fmt.Println(errors.Is(manadv.InitObj(&manadv.Obj{}, 1<<40), syscall.EINVAL))
	fmt.Println(umad.Size())
	fmt.Println(mad.FieldName(mad.NodeTypeF))
	fmt.Println(rdma_cma.EventStr(rdma_cma.CmEventEstablished))
	channel, err := rdma_cma.CreateEventChannel()
	var refused *clib.Error
	fmt.Println(channel != nil, err == nil || errors.As(err, &refused))
	if channel != nil {
		fmt.Println(rdma_cma.DestroyEventChannel(channel))
	}
	fmt.Println(rsocket.Rclose(-1))
}
`

// Every header of rdma-core's other libraries becomes a package that compiles for
// every target, whose functions are those of the library, in a module that is not
// goverbs.
func TestPackagesOfOtherLibraries(t *testing.T) {
	t.Parallel()
	module := newModule(t)
	var bound []string
	for _, l := range otherLibraries {
		if !exists(filepath.Join("/usr/include", l.header)) {
			require.Contains(t, []string{"infiniband/hnsdv.h"}, l.header, "it is in every release that is tested; `make deps` installs it")
			continue
		}
		name := strings.TrimSuffix(filepath.Base(l.header), ".h")
		args := []string{"-header", l.header, "-library", l.library, "-o", filepath.Join(module, name)}
		gen(t, append([]string{"generate"}, args...)...)
		gen(t, append([]string{"check"}, args...)...)
		text := ""
		for _, file := range files(t, filepath.Join(module, name)) {
			text += file
		}
		for _, exported := range symbols(t, l.library) {
			if declares(t, l.header, exported) {
				bound = append(bound, exported)
				if exported != "rfcntl" { // any number of arguments
					assert.True(t, strings.Contains(text, `Name: "`+exported+`"`), "%s: %s is not bound", l.header, exported)
				}
			}
		}
	}
	require.Greater(t, len(bound), 250)
	// A program that imports them comes later: the packages would be compiled for every
	// target then, and not only checked.
	for _, target := range lintTargets(t) {
		goCommand(t, module, target, "vet", "./...")
	}
	require.NoError(t, os.WriteFile(filepath.Join(module, "main.go"), []byte(librariesMain), 0o644))
	out := goCommand(t, module, "linux/"+runtime.GOARCH, "run", ".")
	assert.Regexp(t, `^false <nil>
true
true <nil>
<nil>
<nil>
true <nil>
true
56 <nil>
NodeType <nil>
RDMA_CM_EVENT_ESTABLISHED <nil>
(false true|true true
<nil>)
rclose: .+
$`, out)
}

// symbols are the functions that an installed library exports.
func symbols(t *testing.T, soname string) (names []string) {
	t.Helper()
	dirs, err := exec.Command("cc", "-print-file-name="+soname).Output()
	require.NoError(t, err)
	out, err := exec.Command("nm", "-D", "--defined-only", "--without-symbol-versions", strings.TrimSpace(string(dirs))).Output()
	require.NoError(t, err, "nm of %s; `make deps` installs the library", soname)
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && f[1] == "T" {
			names = append(names, f[2])
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// declares reports whether a header's text has a name as a word, not in a comment's
// line.
func declares(t *testing.T, header, name string) bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/usr/include", header))
	require.NoError(t, err)
	return regexp.MustCompile(`(?m)^[^*\n]*\b` + name + `\(`).Match(text)
}

// Names of the built-in conventions are of functions: a misspelt one would say nothing.
func TestConventionsAreOfFunctions(t *testing.T) {
	table, err := os.ReadFile("internal/gosrc/conventions_more.txt")
	require.NoError(t, err)
	all := map[string]bool{}
	for _, l := range otherLibraries {
		if exists(filepath.Join("/usr/include", l.header)) {
			for _, name := range symbols(t, l.library) {
				all[name] = true
			}
		}
	}
	// These came after the oldest release that is tested.
	later := []string{"mlx5dv_reg_dmabuf_mr", "mlx5dv_devx_uar_export_dmabuf_fd", "efadv_qp_from_ibv_qp_ex", "repoll_ctl", "umad_open_smi_port", "efadv_get_max_sq_depth", "efadv_get_max_rq_depth", "umad_get_smi_gsi_pairs"}
	entries := 0
	for line := range strings.Lines(string(table)) {
		f := strings.Fields(line)
		if len(f) != 2 || line[0] == '#' || line[0] == '\t' {
			continue
		}
		entries++
		assert.True(t, all[f[0]] || slices.Contains(later, f[0]) || strings.HasPrefix(f[0], "ibnd_"), "there is no function %s", f[0])
	}
	assert.Greater(t, entries, 40)
}
