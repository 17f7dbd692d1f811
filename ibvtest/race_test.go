//go:build !freebsd && race

package ibvtest_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/internal/emulated"
	"github.com/goverbs/goverbs/rdma"
)

// raceCase is a program. If the detector has to report it, the report names what the device, a peer or the program does.
type raceCase struct {
	reported string
	run      func(w *wired)
}

var raceCases = map[string]raceCase{
	// Wrong, all of it in one goroutine.
	"reads a receive buffer before a message came": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		sink += w.memory.Bytes()[0]
	}},
	"reads a receive buffer before it has the completion": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.sendFrom(w.a, 2, 4096, 8, 0)
		sink += w.memory.Bytes()[0]
	}},
	"writes to a posted receive buffer": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.memory.Bytes()[7] = 1
	}},
	"writes to the last of many posted receive buffers": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		for i := range 8 {
			w.post(w.b, uint64(i), 64*i, 64)
		}
		w.memory.Bytes()[64*7] = 1
	}},
	"has one completion and writes to the next buffer": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.post(w.b, 2, 64, 64)
		w.sendFrom(w.a, 3, 4096, 8, 0)
		w.poll()
		w.memory.Bytes()[64] = 1
	}},
	"reads after the first of two completions for one buffer": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.post(w.b, 2, 0, 64)
		w.sendFrom(w.a, 3, 4096, 8, 0)
		w.poll()
		sink += w.memory.Bytes()[0]
	}},
	"writes to a send buffer that waits": {"theDeviceReadsASendBuffer", func(w *wired) {
		w.sendFrom(w.a, 3, 4096, 8, 0) // the peer has no receive
		w.memory.Bytes()[4096] = 1
	}},
	"writes to a send buffer before it has the completion": {"theDeviceReadsASendBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.sendFrom(w.a, 3, 4096, 8, ibv.SendSignaled)
		w.memory.Bytes()[4096] = 1
	}},
	"takes an answer for the completion of what it sent": {"theDeviceReadsASendBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		w.sendFrom(w.a, 3, 4096, 8, 0)
		w.poll()
		w.memory.Bytes()[4096] = 1
	}},
	"reads what RDMA has not read yet": {"theDeviceWritesWhatItReadsFromAPeer", func(w *wired) {
		w.rdma(ibv.WRRDMARead, 0, 64, 4096, 0)
		sink += w.memory.Bytes()[0]
	}},
	"reads what a peer writes, and was not told": {"aPeerWritesByRDMA", func(w *wired) {
		w.rdma(ibv.WRRDMAWrite, 4096, 61, 0, 0)
		sink += w.memory.Bytes()[0]
	}},
	"writes what a peer reads, and was not told": {"aPeerReadsByRDMA", func(w *wired) {
		w.rdma(ibv.WRRDMARead, 4096, 64, 0, 0)
		w.memory.Bytes()[0] = 1
	}},
	"reads a word that peers count with": {"aPeerChangesAtomically", func(w *wired) {
		w.rdma(ibv.WRAtomicFetchAndAdd, 4096, 8, 0, 0)
		sink += w.memory.Bytes()[0]
	}},
	"deregisters a region that is posted": {"theProgramReleasesARegion", func(w *wired) {
		mr := w.postOwn()
		w.check(mr.Close())
	}},
	"frees memory that is posted": {"theProgramFreesABuffer", func(w *wired) {
		memory, err := ibv.AllocBuffer(64)
		w.check(err)
		mr, err := w.pd.Raw().RegMR(memory, ibv.AccessLocalWrite)
		w.check(err)
		w.postRaw(mr)
		w.check(memory.Free())
	}},
	// Wrong in several.
	"another goroutine reads before the completion": {"theDeviceWritesAReceiveBuffer", func(w *wired) {
		w.post(w.b, 1, 0, 64)
		done := make(chan bool)
		go func() { sink += w.memory.Bytes()[0]; done <- true }()
		<-done
	}},
	// Right.
	"waits for completions": {"", func(w *wired) {
		for i := range 100 {
			w.post(w.b, 1, 0, 64)
			w.memory.Bytes()[4096] = byte(i)
			w.sendFrom(w.a, 2, 4096, 8, ibv.SendSignaled)
			w.poll()
			require.Equal(w.t, byte(i), w.memory.Bytes()[0])
			w.memory.Bytes()[0] = 0
		}
	}},
	"polls in another goroutine, and says so on a channel": {"", func(w *wired) {
		found := make(chan ended)
		go func() {
			for n := 0; n < 200; {
				for _, c := range w.poll() {
					found <- c
					n++
				}
			}
			close(found)
		}()
		for i := range 100 {
			w.post(w.b, 1, 0, 64)
			w.memory.Bytes()[4096] = byte(i)
			w.sendFrom(w.a, 2, 4096, 8, ibv.SendSignaled)
			<-found
			<-found
			require.Equal(w.t, byte(i), w.memory.Bytes()[0])
		}
		for range found {
		}
	}},
	"has sends without completions end with a later one": {"", func(w *wired) {
		for i := range 4 {
			w.post(w.b, uint64(i), 64*i, 64)
		}
		for i := range 3 {
			w.sendFrom(w.a, 5, 4096+64*i, 8, 0)
		}
		w.sendFrom(w.a, 6, 4096+64*3, 8, ibv.SendSignaled)
		require.Len(w.t, w.poll(), 5)
		clear(w.memory.Bytes()[:8192])
	}},
	"uses data at once that was sent inline": {"", func(w *wired) {
		a := w.qpOf(ibv.QPTRC, ibv.QPCap{MaxSendWR: 8, MaxSendSGE: 2, MaxInlineData: 64})
		w.connect(a, w.b, 0, nil)
		w.sendFrom(a, 5, 4096, 8, ibv.SendInline) // and waits
		w.memory.Bytes()[4096] = 1
	}},
	"sends one buffer twice, and reads it": {"", func(w *wired) {
		w.sendFrom(w.a, 5, 4096, 8, 0)
		w.sendFrom(w.a, 5, 4096, 8, 0)
		sink += w.memory.Bytes()[4096]
	}},
	"receives what nobody reads in one place": {"", func(w *wired) {
		for i := range 8 {
			w.post(w.b, uint64(i), 0, 64)
		}
		for range 8 {
			w.sendFrom(w.a, 9, 4096, 8, ibv.SendSignaled)
		}
		require.Len(w.t, w.poll(), 16)
		w.memory.Bytes()[0] = 1
	}},
	"writes by RDMA, and then tells": {"", func(w *wired) {
		for i := range 20 {
			w.memory.Bytes()[4096] = byte(i)
			w.post(w.b, 1, 8192, 64)
			w.rdma(ibv.WRRDMAWrite, 4096, 61, 0, 0)
			w.sendFrom(w.a, 2, 12288, 8, ibv.SendSignaled)
			w.poll()
			require.Equal(w.t, byte(i), w.memory.Bytes()[0])
			w.memory.Bytes()[0] = 0
		}
	}},
	"has the completion of an RDMA write": {"", func(w *wired) {
		w.rdma(ibv.WRRDMAWrite, 4096, 61, 0, ibv.SendSignaled)
		w.poll()
		w.memory.Bytes()[0] = 1
	}},
	"has the completion of an RDMA read": {"", func(w *wired) {
		w.rdma(ibv.WRRDMARead, 4096, 61, 0, ibv.SendSignaled)
		w.poll()
		clear(w.memory.Bytes()[:8192])
	}},
	"looks at the last word until it changes": {"", func(w *wired) {
		copy(w.memory.Bytes()[4096:], "0123456789abcdef")
		seen := make(chan byte)
		go func() {
			last := (*uint64)(unsafe.Pointer(&w.memory.Bytes()[8]))
			for atomic.LoadUint64(last) == 0 {
			}
			seen <- w.memory.Bytes()[0]
		}()
		w.rdma(ibv.WRRDMAWrite, 4096, 16, 0, 0)
		require.Equal(w.t, byte('0'), <-seen)
	}},
	"counts with peers": {"", func(w *wired) {
		counter := (*uint64)(unsafe.Pointer(&w.memory.Bytes()[0]))
		done := make(chan bool)
		go func() {
			for range 100 {
				atomic.AddUint64(counter, 1)
			}
			done <- true
		}()
		for range 100 {
			w.rdma(ibv.WRAtomicFetchAndAdd, 4096, 8, 0, ibv.SendSignaled)
			require.Len(w.t, w.poll(), 1)
		}
		<-done
		require.EqualValues(w.t, 200, binary.NativeEndian.Uint64(w.memory.Bytes()))
	}},
	"destroys the queue pair first": {"", func(w *wired) {
		mr := w.postOwn()
		w.check(w.b.Close())
		w.check(mr.Close())
	}},
	"frees memory after the completion": {"", func(w *wired) {
		memory, err := ibv.AllocBuffer(64)
		w.check(err)
		mr, err := w.pd.Raw().RegMR(memory, ibv.AccessLocalWrite)
		w.check(err)
		w.postRaw(mr)
		w.sendFrom(w.a, 2, 4096, 8, ibv.SendSignaled)
		require.Len(w.t, w.poll(), 2)
		w.check(mr.Close())
		w.check(memory.Free())
	}},
	"takes memory from peers by deregistering it": {"", func(w *wired) {
		memory := make([]byte, 64)
		mr, err := w.pd.Raw().RegMR(memory, ibv.AccessLocalWrite|ibv.AccessRemoteWrite)
		w.check(err)
		w.rdmaTo(ibv.WRRDMAWrite, 4096, 61, uint64(mr.Addr), mr.RKey, 0)
		w.check(mr.Close())
		memory[0] = 1
	}},
	"receives by a ring": {"", func(w *wired) {
		cq, err := w.dev.CreateCQ(64, rdma.CQOptions{})
		w.check(err)
		a, b := w.qp(ibv.QPTRC), w.qpOn(cq, ibv.QPTRC, ibv.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2})
		w.connect(a, b, 0, nil)
		w.connect(b, a, 1, nil)
		ring, err := rdma.NewRecvRing(b, rdma.RecvRingOptions{Buffers: 8, Size: 64})
		w.check(err)
		in := make([]rdma.Received, 4)
		for i := range 50 {
			w.memory.Bytes()[4096] = byte(i)
			w.sendFrom(a, 2, 4096, 8, ibv.SendSignaled)
			for seen := 0; seen < 1; {
				n, err := ring.Poll(in)
				w.check(err)
				for _, m := range in[:n] {
					if len(m.Data) > 0 {
						require.Equal(w.t, byte(i), m.Data[0])
						m.Data[0] = 0xff
						seen++
						w.check(ring.Release(m))
					}
				}
			}
			w.poll()
		}
		w.check(b.Close())
		w.check(ring.Close())
	}},
}

var sink byte

func (w *wired) check(err error) {
	w.t.Helper()
	require.NoError(w.t, err)
}

// post posts a receive of a part of the memory.
func (w *wired) post(qp *rdma.QP, id uint64, at, n int) {
	chain, err := ibv.NewRecvChain(1, 1)
	w.check(err)
	w.check(chain.Set(0, id, w.memory.SGE(at, n)))
	_, err = qp.PostRecv(chain)
	w.check(err)
}

func (w *wired) sendFrom(qp *rdma.QP, id uint64, at, n int, flags ibv.SendFlags) {
	chain, err := ibv.NewSendChain(1, 1)
	w.check(err)
	w.check(chain.Set(0, id, ibv.WRSend, flags, w.memory.SGE(at, n)))
	_, err = qp.PostSend(chain)
	w.check(err)
}

// rdma reads, writes or counts at one place of the memory, from or to another.
func (w *wired) rdma(op ibv.WROpcode, local, n, remote int, flags ibv.SendFlags) {
	w.rdmaTo(op, local, n, w.memory.SGE(remote, n).Addr, w.memory.RKey(), flags)
}

func (w *wired) rdmaTo(op ibv.WROpcode, local, n int, remote uint64, rkey uint32, flags ibv.SendFlags) {
	chain, err := ibv.NewSendChain(1, 1)
	w.check(err)
	w.check(chain.Set(0, 9, op, flags, w.memory.SGE(local, n)))
	if op == ibv.WRAtomicFetchAndAdd {
		*chain.WR(0).WR.Atomic() = ibv.SendWRWRAtomic{RemoteAddr: remote, RKey: rkey, CompareAdd: 1}
	} else {
		*chain.WR(0).WR.RDMA() = ibv.SendWRWRRDMA{RemoteAddr: remote, RKey: rkey}
	}
	_, err = w.a.PostSend(chain)
	w.check(err)
}

// postOwn posts a receive of a region of its own.
func (w *wired) postOwn() *ibv.MR {
	mr, err := w.pd.Raw().RegMR(make([]byte, 64), ibv.AccessLocalWrite)
	w.check(err)
	w.postRaw(mr)
	return mr
}

func (w *wired) postRaw(mr *ibv.MR) {
	chain, err := ibv.NewRecvChain(1, 1)
	w.check(err)
	w.check(chain.Set(0, 1, mr.SGE(0, 64)))
	_, err = w.b.PostRecv(chain)
	w.check(err)
}

// The race detector reports a program that touches what the device has, with what the device did and where that was asked
// for, and no program that does not.
func TestRaces(t *testing.T) {
	const role = "IBVTEST_RACE"
	if c, is := raceCases[os.Getenv(role)]; is {
		c.run(wire(t, newRig(t), ibv.QPTRC, nil))
		return
	}
	for name, c := range raceCases {
		t.Run(name, func(t *testing.T) {
			cmd := emulated.Itself("-test.run=^TestRaces$")
			cmd.Env = append(os.Environ(), role+"="+name, "GORACE=halt_on_error=1 exitcode=66 atexit_sleep_ms=0")
			out, err := cmd.CombinedOutput()
			if c.reported == "" {
				require.NoError(t, err, "%s", out)
				return
			}
			require.Equal(t, 66, cmd.ProcessState.ExitCode(), "%s", out)
			require.Contains(t, string(out), "DATA RACE")
			require.Contains(t, string(out), fmt.Sprintf("ibvtest.%s(", c.reported))
			require.Contains(t, string(out), "race_test.go")
		})
	}
}
