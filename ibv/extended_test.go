//go:build !freebsd

package ibv_test

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/clib"
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/dl"
	"github.com/goverbs/goverbs/internal/scripted"
)

// extended is a provider of testdata/extended.c.
type extended struct {
	scripted.Object
}

var extendedLibraries sync.Map // by name

// newExtended makes a provider, for as long as the process.
func newExtended(t testing.TB) *extended {
	t.Helper()
	return newExtendedOf(t, "extended.so")
}

// newExtendedOf is newExtended for a provider whose file has a name.
func newExtendedOf(t testing.TB, name string) *extended {
	t.Helper()
	library, ok := extendedLibraries.Load(name)
	if !ok {
		object := compiledFrom(t, "extended.c", "extended.so")
		if name != "extended.so" {
			code, err := os.ReadFile(object)
			require.NoError(t, err)
			object = filepath.Join(filepath.Dir(object), name)
			require.NoError(t, os.WriteFile(object, code, 0o600))
		}
		opened, err := dl.Open(object)
		require.NoError(t, err)
		library, _ = extendedLibraries.LoadOrStore(name, opened)
	}
	e := &extended{scripted.Object{T: t, Library: library.(*dl.Library)}}
	e.C, _ = dl.Call(e.Symbol("extended_new"))
	require.NotZero(t, e.C)
	return e
}

// everything is all operations, and these are the ones that the header may be too
// old for.
const (
	everything = ibv.QPExWithRDMAWrite | ibv.QPExWithRDMAWriteWithImm | ibv.QPExWithSend | ibv.QPExWithSendWithImm |
		ibv.QPExWithRDMARead | ibv.QPExWithAtomicCmpAndSwp | ibv.QPExWithAtomicFetchAndAdd | ibv.QPExWithLocalInv |
		ibv.QPExWithBindMW | ibv.QPExWithSendWithInv | ibv.QPExWithTSO | ibv.QPExWithFlush | ibv.QPExWithAtomicWrite
)

// qp makes queue pair i, with the operations and something to trap on in the place
// of others, or with nothing there.
func (e *extended) qp(i int, kind ibv.QPType, ops ibv.QPCreateSendOpsFlags, poison bool, cq *ibv.CQEx) *ibv.QPEx {
	e.T.Helper()
	trap := uintptr(0)
	if poison {
		trap = 1
	}
	ex := e.Call("extended_qp", uintptr(i), uintptr(kind), uintptr(ops), trap, uintptr(unsafe.Pointer(cq)))
	atomicWrite, flush := uintptr(0), uintptr(0)
	if ops&ibv.QPExWithAtomicWrite != 0 {
		atomicWrite = unsafe.Offsetof(ibv.QPEx{}.WRAtomicWrite)
	}
	if ops&ibv.QPExWithFlush != 0 {
		flush = unsafe.Offsetof(ibv.QPEx{}.WRFlush)
	}
	dl.Call(e.Symbol("extended_later"), ex, atomicWrite, flush)
	return clib.At[ibv.QPEx](ex)
}

// cq makes completion queue i.
func (e *extended) cq(i int, flags ibv.CreateCQWCFlags, old bool) *ibv.CQEx {
	e.T.Helper()
	asOld := uintptr(0)
	if old {
		asOld = 1
	}
	return clib.At[ibv.CQEx](e.Call("extended_cq", uintptr(i), uintptr(flags), asOld))
}

// extendedScript is what the provider is to do from now on.
type extendedScript struct {
	result      int32         // of wr_complete
	errno       syscall.Errno // that is left there
	startResult int32
	nextResult  int32
	loop        bool // moves data, and writes nothing down
}

func (e *extended) play(s extendedScript) {
	e.T.Helper()
	loop := uintptr(0)
	if s.loop {
		loop = 1
	}
	e.Call("extended_script", uintptr(s.result), uintptr(s.errno), uintptr(s.startResult), uintptr(s.nextResult), loop)
}

// event is a call as C has seen it.
type event struct {
	name  string
	wrID  uint64
	flags ibv.SendFlags
	args  []uint64
	bytes []byte
}

// events are the calls since the last script, and none of them has left a lock
// behind.
func (e *extended) events() (events []event) {
	e.T.Helper()
	require.Zero(e.T, e.Call("extended_locked"))
	for i := range int(e.Call("extended_events")) {
		c := clib.At[struct {
			name               [32]byte
			wrID, flags, nargs uint64
			args               [5]uint64
			nbytes             uint64
			bytes              [128]byte
		}](e.Call("extended_event", uintptr(i)))
		name := c.name[:]
		for k, b := range name {
			if b == 0 {
				name = name[:k]
				break
			}
		}
		ev := event{name: string(name), wrID: c.wrID, flags: ibv.SendFlags(c.flags)}
		if c.nargs > 0 {
			ev.args = append(ev.args, c.args[:c.nargs]...)
		}
		if c.nbytes > 0 {
			ev.bytes = append(ev.bytes, c.bytes[:c.nbytes]...)
		}
		events = append(events, ev)
	}
	return events
}

// names are the events' alone.
func (e *extended) names() (names []string) {
	e.T.Helper()
	for _, ev := range e.events() {
		names = append(names, ev.name)
	}
	return names
}
