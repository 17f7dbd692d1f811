//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// deviceUse is what the device does with memory.
type deviceUse int

const (
	sends    deviceUse = iota // reads it, to send or to write it to a peer
	receives                  // writes a message to it that arrives
	fetches                   // writes to it what was read from a peer
)

// uses is what the device does with the memory of a work request.
func (w *sendWork) uses() deviceUse {
	switch w.wr.Opcode {
	case ibv.WRRDMARead, ibv.WRAtomicCmpAndSwp, ibv.WRAtomicFetchAndAdd:
		return fetches
	}
	return sends
}
