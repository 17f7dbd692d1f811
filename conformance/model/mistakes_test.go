package model

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/goverbs/goverbs/ibv"
)

// mistakes is what a device might do wrong, each of which a few random sequences find.
var mistakes = map[string]mistake{
	"a completion is lost": {completion: func(e *expectation, wcs *[]ibv.WC) bool {
		*wcs = (*wcs)[:len(*wcs)-1]
		return true
	}},
	"a completion comes twice": {completion: func(e *expectation, wcs *[]ibv.WC) bool {
		*wcs = append(*wcs, (*wcs)[len(*wcs)-1])
		return true
	}},
	"two flushes change places": {completion: func(e *expectation, wcs *[]ibv.WC) bool {
		n := len(*wcs)
		if n < 2 || (*wcs)[n-1].QPNum != (*wcs)[n-2].QPNum || (*wcs)[n-1].Status != ibv.WCWRFlushErr || (*wcs)[n-2].Status != ibv.WCWRFlushErr {
			return false
		}
		(*wcs)[n-1], (*wcs)[n-2] = (*wcs)[n-2], (*wcs)[n-1]
		return true
	}},
	"a flush is a success":          onWC(func(e *expectation, wc *ibv.WC) bool { return turn(&wc.Status, ibv.WCWRFlushErr, ibv.WCSuccess) }),
	"a refused access is a success": onWC(func(e *expectation, wc *ibv.WC) bool { return turn(&wc.Status, ibv.WCRemAccessErr, ibv.WCSuccess) }),
	"no receive is no answer": onWC(func(e *expectation, wc *ibv.WC) bool {
		return turn(&wc.Status, ibv.WCRNRRetryExcErr, ibv.WCRetryExcErr)
	}),
	"a wrong local key goes unseen": onWC(func(e *expectation, wc *ibv.WC) bool { return turn(&wc.Status, ibv.WCLocProtErr, ibv.WCSuccess) }),
	"a receive says it is a send":   onWC(func(e *expectation, wc *ibv.WC) bool { return turn(&wc.Opcode, ibv.WCRecv, ibv.WCSend) }),
	"a length is one too many":      onWC(func(e *expectation, wc *ibv.WC) bool { wc.ByteLen++; return e.receive && wc.Status == ibv.WCSuccess }),
	"a read has no length": onWC(func(e *expectation, wc *ibv.WC) bool {
		return wc.Opcode == ibv.WCRDMARead && wc.ByteLen > 0 && clearLen(wc)
	}),
	"immediate data is the other way": onWC(func(e *expectation, wc *ibv.WC) bool {
		wc.SetImmData(ibv.BE32(wc.ImmData().Host()))
		return e.flags&ibv.WCWithImm != 0 && wc.ImmData().Host() != e.imm
	}),
	"immediate data has no flag": onWC(func(e *expectation, wc *ibv.WC) bool {
		wc.WCFlags = 0
		return e.flags&ibv.WCWithImm != 0
	}),
	"another window is invalidated": onWC(func(e *expectation, wc *ibv.WC) bool {
		wc.SetInvalidatedRKey(uint32(e.window + 1))
		return e.window != 0
	}),
	"a bind that cannot be is a success":  onWC(func(e *expectation, wc *ibv.WC) bool { return turn(&wc.Status, ibv.WCMWBindErr, ibv.WCSuccess) }),
	"a datagram comes from somebody else": onWC(func(e *expectation, wc *ibv.WC) bool { wc.SrcQP++; return e.from != 0 }),
	"a receive completes as another queue pair's": onWC(func(e *expectation, wc *ibv.WC) bool {
		wc.QPNum++
		return e.receive
	}),
	"an unsignalled send is reported": {completion: func(e *expectation, wcs *[]ibv.WC) bool {
		if e.receive {
			return false
		}
		*wcs = append(*wcs, ibv.WC{WRID: e.id + 1, QPNum: uint32(e.qp), Opcode: ibv.WCSend})
		return true
	}},
	"a refusal is a success": {answer: func(c Call, a *answer) bool {
		_, post := c.(PostSend)
		refused := a.errno != 0 && !post && a.accepted == 0
		if refused {
			a.errno = 0
		}
		return refused
	}},
	"a domain with children goes": {answer: func(c Call, a *answer) bool {
		_, is := c.(DeallocPD)
		return is && turn(&a.errno, syscall.EBUSY, 0)
	}},
	"a wrong move succeeds": {answer: func(c Call, a *answer) bool {
		_, is := c.(ModifyQP)
		return is && turn(&a.errno, syscall.EINVAL, 0)
	}},
	"a refused chain's index is one off": {answer: func(c Call, a *answer) bool {
		_, is := c.(PostRecv)
		if !is || a.errno == 0 || a.accepted == 0 {
			return false
		}
		a.accepted--
		return true
	}},
	"a full queue is an invalid request": {answer: func(c Call, a *answer) bool {
		_, is := c.(PostRecv)
		return is && turn(&a.errno, syscall.ENOMEM, syscall.EPERM)
	}},
	"a queue pair is smaller than asked for": {answer: func(c Call, a *answer) bool {
		_, is := c.(CreateQP)
		if a.cap.MaxSendWR--; !is || a.errno != 0 {
			a.cap.MaxSendWR++
			return false
		}
		return true
	}},
	"a query tells another state": {answer: func(c Call, a *answer) bool {
		_, is := c.(QueryQP)
		return is && turn(&a.state, ibv.QPSRTR, ibv.QPSRTS)
	}},
	"a failure leaves the state": {state: func(qp *queuePair) bool { return qp.state == ibv.QPSErr }},
	"a byte is wrong": {memory: func(m *memory, c Call) bool {
		_, is := c.(PostSend)
		if is {
			m.data[MemorySize/2]++
		}
		return is
	}},
}

func onWC(wrong func(e *expectation, wc *ibv.WC) bool) mistake {
	return mistake{completion: func(e *expectation, wcs *[]ibv.WC) bool {
		last := &(*wcs)[len(*wcs)-1]
		before := *last
		if wrong(e, last) {
			return true
		}
		*last = before
		return false
	}}
}

func turn[T comparable](v *T, from, to T) bool {
	if *v != from {
		return false
	}
	*v = to
	return true
}

func clearLen(wc *ibv.WC) bool { wc.ByteLen = 0; return true }

// A machine that does as the model says agrees with it.
func TestNoMistake(t *testing.T) {
	for _, l := range []Latitude{{}, SoftRoCE} {
		for seed := range uint64(300) {
			s := Generate(seed, Length, l)
			o, err := replay(newFake(mistake{}, l), l, s, 0)
			require.NoError(t, err, "seed %d", seed)
			require.Equal(t, Length, o.Calls)
			require.Empty(t, o.Undefined)
		}
	}
}

// Whatever a device does wrong is found, and what is left of the sequence is the little
// that it takes: it still fails, and without any one of its calls it does not.
func TestMistakes(t *testing.T) {
	for name, m := range mistakes {
		t.Run(name, func(t *testing.T) {
			fails := func(s Sequence) bool {
				_, err := replay(newFake(m, Latitude{}), Latitude{}, s, 0)
				var d *Disagreement
				return errors.As(err, &d)
			}
			seed, wrong := uint64(0), 0
			for ; wrong == 0 && seed < 1000; seed++ {
				s := Generate(seed, Length, Latitude{})
				f := newFake(m, Latitude{})
				_, err := replay(f, Latitude{}, s, 0)
				if !f.made {
					require.NoError(t, err)
					continue
				}
				wrong++
				require.Error(t, err, "seed %d: nobody has seen it", seed)
				short := Shrink(s, fails)
				require.True(t, fails(short))
				require.Less(t, len(short), 20, short)
				for i := range short {
					require.False(t, fails(append(append(Sequence(nil), short[:i]...), short[i+1:]...)), "call %d is not needed: %v", i, short)
				}
				require.Equal(t, len(short)+2, len(strings.Split(short.String(), "\n")))
				t.Logf("seed %d: %d of %d calls are left", seed, len(short), len(s))
			}
			require.Equal(t, 1, wrong, "no sequence had the chance")
		})
	}
}
