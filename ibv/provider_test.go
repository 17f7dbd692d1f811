package ibv_test

import (
	"path/filepath"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/internal/ccompile"
	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/internal/scripted"
)

// Most tests have a provider that does what a script says. These are short names
// for what package scripted has.

type (
	provider = scripted.Provider
	script   = scripted.Script
	badWR    = scripted.BadWR
	sawWR    = scripted.WR
)

const (
	wholeContext = scripted.WholeContext
	plainContext = scripted.PlainContext

	all       = scripted.All
	untouched = scripted.Untouched
	null      = scripted.Null
	element   = scripted.Element
	inside    = scripted.Inside
	outside   = scripted.Outside
	stale     = scripted.Stale

	calls      = scripted.Calls
	accepted   = scripted.Accepted
	theObject  = scripted.TheObject
	badBefore  = scripted.BadBefore
	polled     = scripted.Polled
	theList    = scripted.TheList
	port       = scripted.Port
	attrLength = scripted.AttrLength
)

var (
	providerOf = scripted.New
	again      = scripted.Again
)

var loaded struct {
	sync.Mutex
	library *dl.Library
}

// newProvider makes a provider whose verbs_context has so many bytes. It stays
// for as long as the process.
func newProvider(t testing.TB, size int) *provider {
	t.Helper()
	loaded.Lock()
	defer loaded.Unlock()
	if loaded.library == nil {
		library, err := dl.Open(compiled(t, "provider.so"))
		require.NoError(t, err)
		loaded.library = library
	}
	return providerOf(t, loaded.library, size)
}

// compiled is the provider, compiled for the time of the tests.
func compiled(t testing.TB, name string, flags ...string) string {
	t.Helper()
	return scripted.Compile(t, scratch, name, flags...)
}

// compiledFrom is compiled for a file of testdata.
func compiledFrom(t testing.TB, source, name string, flags ...string) string {
	t.Helper()
	return ccompile.Shared(t, filepath.Join("testdata", source), filepath.Join(scratch, name), flags...)
}

// inOldLibrary runs the calling test in a process whose libibverbs is the provider.
// It returns nil in this process, where nothing is left to do, and that libibverbs
// in the other one.
func inOldLibrary(t *testing.T) *dl.Library {
	t.Helper()
	return scripted.InOldLibrary(t, scratch)
}

// addressOf is the address of something that is in C or on the heap.
func addressOf[T any](p *T) uint64 { return uint64(uintptr(unsafe.Pointer(p))) }
