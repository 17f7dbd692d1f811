//go:build !freebsd

package ibvtest_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/ibvtest"
	"github.com/goverbs/goverbs/rdma"
)

// Whatever goroutines do at both ends of connections, and whatever the fabric does to messages, each work request that
// was posted completes once, in the order of its queue, and after the first that fails all are flushed.
func TestEachEndsOnce(t *testing.T) {
	for name, opts := range map[string][]ibvtest.Option{
		"at once":         nil,
		"delayed":         {ibvtest.Delay(0, 50*time.Microsecond)},
		"lost on the way": {ibvtest.Loss(0.05), ibvtest.Delay(0, 20*time.Microsecond)},
	} {
		t.Run(name, func(t *testing.T) {
			f := ibvtest.New(t, append(opts, ibvtest.Devices(2))...)
			var all sync.WaitGroup
			for pair := range 4 {
				here, there := openRig(t, f, pair%2), openRig(t, f, 1)
				a, b := newFlow(here, uint64(pair)), newFlow(there, uint64(pair))
				a.meet(b)
				b.meet(a)
				for _, end := range []*flow{a, b} {
					all.Go(end.run)
				}
			}
			all.Wait()
		})
	}
}

// flow is an end of a connection, and what of it is on its way.
type flow struct {
	*rig
	qp     *rdma.QP
	memory *rdma.Region
	random *rand.Rand
	next   [2]uint64 // what is posted next, of the sends and of the receives
	done   [2]uint64 // what completes next
	failed [2]bool
}

func newFlow(r *rig, seed uint64) *flow {
	e := &flow{rig: r, qp: r.qp(ibv.QPTRC), random: rand.New(rand.NewPCG(seed, 1))}
	var err error
	e.memory, err = r.pd.AllocRegion(4096, rdma.RegionOptions{})
	require.NoError(r.t, err)
	return e
}

func (e *flow) meet(peer *flow) {
	gid, err := peer.dev.ChooseGID(rdma.GIDChoice{})
	require.NoError(e.t, err)
	e.connect(e.qp, peer.qp, 0, func(_ int, attr *ibv.QPAttr) {
		attr.AHAttr.GRH.DGID, attr.MinRNRTimer = gid.GID, 1
		attr.Timeout, attr.RetryCnt = 8, 7
	})
}

const receivesBit = 1 << 63

// run posts and polls, and ends the queue pair.
func (e *flow) run() {
	sends, _ := ibv.NewSendChain(1, 1)
	recvs, _ := ibv.NewRecvChain(1, 1)
	for range 2000 {
		switch e.random.IntN(3) {
		case 0:
			if sends.Set(0, e.next[0], ibv.WRSend, ibv.SendSignaled, e.memory.SGE(0, e.random.IntN(64))) == nil {
				if _, err := e.qp.PostSend(sends); err == nil {
					e.next[0]++
				}
			}
		case 1:
			if recvs.Set(0, e.next[1]|receivesBit, e.memory.SGE(1024, 64)) == nil {
				if _, err := e.qp.PostRecv(recvs); err == nil {
					e.next[1]++
				}
			}
		case 2:
			e.poll()
		}
	}
	time.Sleep(time.Millisecond)
	if !assert.NoError(e.t, e.qp.ToErr()) {
		return
	}
	for e.poll() > 0 {
	}
	assert.Equal(e.t, e.next, e.done, "posted and completed")
	assert.NotZero(e.t, e.done[0])
}

// poll takes completions, which have to be those that come next.
func (e *flow) poll() int {
	var wcs [4]ibv.WC
	n, err := e.cq.Poll(wcs[:])
	assert.NoError(e.t, err)
	for _, wc := range wcs[:n] {
		of, id := 0, wc.WRID
		if id&receivesBit != 0 {
			of, id = 1, id&^receivesBit
		}
		assert.Equal(e.t, e.done[of], id)
		e.done[of]++
		text := fmt.Sprint(of, " ", id, " ", wc.Status)
		assert.True(e.t, !e.failed[of] || wc.Status == ibv.WCWRFlushErr, text)
		e.failed[of] = e.failed[of] || wc.Status != ibv.WCSuccess
	}
	return n
}
