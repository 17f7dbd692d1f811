//go:build linux

package ibvtest_test

import (
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/goverbs/goverbs/ibv"
)

// mapped registers pages of the system's, which end gives back although they are registered.
func mapped(t *testing.T, w *wired) (mr *ibv.MR, end func()) {
	memory, err := unix.Mmap(-1, 0, 2*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	mr, err = w.pd.Raw().RegMR(memory, ibv.AccessLocalWrite|ibv.AccessRemoteWrite|ibv.AccessRemoteRead|ibv.AccessRemoteAtomic)
	require.NoError(t, err)
	return mr, func() { require.NoError(t, unix.Munmap(memory)) }
}

// Memory that was given back while it is registered ends work requests in errors, and not the program.
func TestMemoryThatIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(w *wired, gone *ibv.MR) error
		ends []ibv.WCStatus // but for flushes
	}{
		"sent": {func(w *wired, gone *ibv.MR) error { return sendOf(w, ibv.WRSend, gone.SGE(0, 4096), 0, 0) }, []ibv.WCStatus{ibv.WCLocProtErr}},
		"received to": {func(w *wired, gone *ibv.MR) error {
			return sendTo(w, gone.SGE(0, 8192))
		}, []ibv.WCStatus{ibv.WCLocProtErr, ibv.WCRemOpErr}},
		"written by a peer": {func(w *wired, gone *ibv.MR) error {
			return sendOf(w, ibv.WRRDMAWrite, w.memory.SGE(0, 8), uint64(gone.Addr), gone.RKey)
		}, []ibv.WCStatus{ibv.WCRemAccessErr}},
		"read by a peer": {func(w *wired, gone *ibv.MR) error {
			return sendOf(w, ibv.WRRDMARead, w.memory.SGE(0, 4096), uint64(gone.Addr)+4096, gone.RKey)
		}, []ibv.WCStatus{ibv.WCRemAccessErr}},
		"read to": {func(w *wired, gone *ibv.MR) error {
			return sendOf(w, ibv.WRRDMARead, gone.SGE(0, 100), w.memory.SGE(0, 8).Addr, w.memory.RKey())
		}, []ibv.WCStatus{ibv.WCLocProtErr}},
		"counted by a peer": {func(w *wired, gone *ibv.MR) error {
			return sendOf(w, ibv.WRAtomicFetchAndAdd, w.memory.SGE(0, 8), uint64(gone.Addr), gone.RKey)
		}, []ibv.WCStatus{ibv.WCRemAccessErr}},
	} {
		t.Run(name, func(t *testing.T) {
			w := wire(t, newRig(t), ibv.QPTRC, nil)
			if name != "received to" {
				w.receive(w.b, 1, 4096)
			}
			gone, end := mapped(t, w)
			end()
			require.NoError(t, c.run(w, gone))
			var ends []ibv.WCStatus
			for _, e := range w.poll() {
				if e.status != ibv.WCWRFlushErr {
					ends = append(ends, e.status)
				}
			}
			require.Equal(t, c.ends, ends)
			require.NoError(t, gone.Close())
		})
	}
}

func sendOf(w *wired, op ibv.WROpcode, e ibv.SGE, remote uint64, rkey uint32) error {
	chain, err := ibv.NewSendChain(1, 1)
	if err != nil {
		return err
	}
	if err := chain.Set(0, 9, op, ibv.SendSignaled, e); err != nil {
		return err
	}
	switch op {
	case ibv.WRAtomicFetchAndAdd:
		*chain.WR(0).WR.Atomic() = ibv.SendWRWRAtomic{RemoteAddr: remote, RKey: rkey, CompareAdd: 1}
	case ibv.WRRDMARead, ibv.WRRDMAWrite:
		*chain.WR(0).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: remote, RKey: rkey}
	}
	_, err = w.a.PostSend(chain)
	return err
}

// sendTo sends to a receive of an entry.
func sendTo(w *wired, e ibv.SGE) error {
	chain, err := ibv.NewRecvChain(1, 1)
	if err != nil {
		return err
	}
	if err := chain.Set(0, 1, e); err != nil {
		return err
	}
	if _, err := w.b.PostRecv(chain); err != nil {
		return err
	}
	return sendOf(w, ibv.WRSend, w.memory.SGE(0, 8), 0, 0)
}

// Memory that is not there is not registered.
func TestRegisterNothing(t *testing.T) {
	pd := rawPD(t)
	memory, err := unix.Mmap(-1, 0, 2*4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	require.NoError(t, err)
	require.NoError(t, unix.Mprotect(memory[4096:], unix.PROT_NONE))
	_, err = pd.RegMR(memory, ibv.AccessLocalWrite)
	require.ErrorIs(t, err, syscall.EFAULT)
	_, err = pd.RegMREx(&ibv.MRInitAttr{
		Length: 16, Addr: uintptr(unsafe.Pointer(&memory[4096])), CompMask: uint64(ibv.RegMRMaskAddr),
	})
	require.ErrorIs(t, err, syscall.EFAULT)
	require.NoError(t, region(t, pd, memory[:4096], ibv.AccessLocalWrite).Rereg(ibv.ReregMRChangeAccess, nil, nil, 0))
	require.NoError(t, unix.Munmap(memory))
}
