package device

import (
	"errors"
	"fmt"

	"github.com/goverbs/goverbs/bench/internal/stub"
	"github.com/goverbs/goverbs/ibv"
)

const (
	stubOrder = 12
	stubRoom  = 1 << stubOrder
)

// StubName is the stub's name.
const StubName = "stub"

// Stub is the provider without a device.
type Stub struct {
	*stub.Provider
	endless *stub.Provider
	wakers  []*Wakers
}

func newStub() (*Stub, error) {
	p, err := stub.New(stubOrder, 1)
	return &Stub{Provider: p}, err
}

// Name is StubName.
func (*Stub) Name() string { return StubName }

// SGE is a buffer that nobody looks at.
func (*Stub) SGE() ibv.SGE { return ibv.SGE{Addr: 0x1000, Length: 4096, LKey: 1} }

// RecvRoom is the queue's size.
func (*Stub) RecvRoom() int { return stubRoom }

// SRQRoom is the queue's size.
func (*Stub) SRQRoom() int { return stubRoom }

// SendRoom is the queue's size.
func (*Stub) SendRoom() int { return stubRoom }

// TakeRecvs empties the receive queue.
func (s *Stub) TakeRecvs(n int) error { return counted("receives", s.Provider.TakeRecvs(), n) }

// TakeSRQRecvs empties the shared receive queue.
func (s *Stub) TakeSRQRecvs(n int) error {
	return counted("shared receives", s.Provider.TakeSRQRecvs(), n)
}

// TakeSends empties the send queue.
func (s *Stub) TakeSends(n int) error { return counted("sends", s.Provider.TakeSends(), n) }

// Complete fills the completion queue.
func (s *Stub) Complete(n int) error {
	if n > stubRoom {
		return fmt.Errorf("the stub's completion queue has no room for %d", n)
	}
	s.Provider.Complete(n)
	return nil
}

// DropCompletions empties the completion queue.
func (s *Stub) DropCompletions() error { return drop(s.CQ(), make([]ibv.WC, 64)) }

// Ring is nil: nobody sends to the stub, nor can memory be registered.
func (*Stub) Ring() *Ring { return nil }

// Extended is the same queues.
func (s *Stub) Extended() (*Extended, error) {
	poll, err := ibv.NewExtendedPoll(s.CQEx(), 0)
	if err != nil {
		return nil, err
	}
	return &Extended{
		QP: s.QPEx(), CQ: s.CQEx(), SGE: s.SGE(), Addr: 0x2000, RKey: 1,
		SendRoom: stubRoom, TakeSends: s.TakeSends, CQRoom: stubRoom, Complete: s.Complete,
		Drop: func() error { return dropExtended(poll, make([]ibv.ExtendedWC, 64)) },
	}, nil
}

// Pair is nil: there is nobody to carry messages.
func (*Stub) Pair(ibv.QPType, int, int) (*Pair, error) { return nil, nil }

// Endless has a provider of its own.
func (s *Stub) Endless() (*Endless, error) {
	if s.endless == nil {
		p, err := stub.New(stubOrder, 1)
		if err != nil {
			return nil, err
		}
		p.NeverFull()
		s.endless = p
	}
	const posted = 256
	e := &Endless{QP: s.endless.QP(), CQ: s.endless.CQ()}
	var err error
	if e.Sends, err = ibv.NewSendChain(posted, 1); err != nil {
		return nil, err
	}
	for i := range posted {
		if err := e.Sends.Set(i, uint64(i), ibv.WRSend, 0, s.SGE()); err != nil {
			return nil, err
		}
	}
	return e, nil
}

// Close frees the objects.
func (s *Stub) Close() error {
	if s.endless != nil {
		s.endless.Close()
	}
	s.Provider.Close()
	var errs []error
	for _, w := range s.wakers {
		errs = append(errs, w.close())
	}
	return errors.Join(errs...)
}
