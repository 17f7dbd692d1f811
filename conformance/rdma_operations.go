package conformance

import (
	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

var rdmaOperations = []Scenario{
	{"rdma", "a write changes what it names and nothing else", "ibv_post_send(3); IBTA 9.4.3, RFC 5040 5.1", write},
}

func write(t *T) {
	a, b := t.Pair(PairOptions{})
	const size = 3000
	Fill(a.Slot(0, size), 1)
	to, err := b.Memory.Remote(1000, size)
	require.NoError(t, err)
	sends := t.Sends(1, 1)
	require.NoError(t, sends.SetRDMA(0, 7, ibv.WRRDMAWrite, ibv.SendSignaled, a.Memory.SGE(0, size), to.Addr, to.RKey))
	a.Post(sends)
	wc := t.Done(a.SendCQ, 1)[0]
	require.Equal(t, ibv.WCRDMAWrite, wc.Opcode)
	require.Equal(t, uint64(7), wc.WRID)
	all := b.Memory.Bytes()
	require.Equal(t, make([]byte, 1000), all[:1000])
	require.Equal(t, a.Slot(0, size), all[1000:1000+size])
	require.Equal(t, make([]byte, len(all)-1000-size), all[1000+size:])
	t.Quiet(b.RecvCQ)
}
