// Command server answers any number of clients over RDMA: it sends back what they say, in capitals. All of them share
// one completion queue, and one goroutine that waits for it. Clients come, go and die as they like; SIGINT ends it.
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

const most = 100 // clients at once

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	switch args := os.Args[1:]; {
	case len(args) == 2 && args[0] == "listen":
		listen(ctx, args[1])
	case len(args) > 2 && args[0] == "say":
		say(ctx, args[1], args[2:])
	default:
		log.Fatal("usage: server listen ADDRESS, or server say ADDRESS WORD...")
	}
}

// server is what clients have in common.
type server struct {
	dev   *rdma.Device
	cq    *rdma.CQ
	rings rdma.Rings[*end]
	mu    sync.Mutex // held by who uses an end's rings, or closes them
}

func listen(ctx context.Context, address string) {
	s := &server{dev: must(rdma.Open("", rdma.DeviceOptions{}))} // the first one that can be used
	s.cq = must(s.dev.CreateCQ(most*4*depth, rdma.CQOptions{}))
	listener := must(net.Listen("tcp", address))
	context.AfterFunc(ctx, func() { listener.Close() })
	fmt.Println("listening on", listener.Addr())

	var all sync.WaitGroup
	all.Go(func() { s.dispatch(ctx) })
	places := make(chan struct{}, most)
	for {
		conn, err := listener.Accept()
		if ctx.Err() != nil {
			break
		}
		check(err)
		places <- struct{}{}
		all.Go(func() {
			fmt.Println("a client has ended:", s.serve(ctx, conn))
			<-places
		})
	}
	all.Wait()
	check(s.dev.CloseAll())
}

// serve has a client be served until one of the two ends, and says why.
func (s *server) serve(ctx context.Context, conn net.Conn) error {
	defer conn.Close() // which the queue pair does not before it is connected
	e, err := newEnd(s.dev, s.cq)
	if err != nil {
		return err
	}
	ctx, e.fail = context.WithCancelCause(ctx)
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		check(errors.Join(s.rings.Remove(e.in), s.rings.Remove(e.out), e.pd.CloseAll()))
	}()
	// From here on, dispatch has what comes, even before Connect is back.
	check(errors.Join(s.rings.Add(e.in, e), s.rings.Add(e.out, e)))
	soon, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := e.qp.Connect(soon, conn, rdma.ConnectOptions{Watch: true}); err != nil {
		return err
	}
	<-ctx.Done() // when a client ends, its receives are flushed, and dispatch finds that
	return context.Cause(ctx)
}

// dispatch waits for completions, and hands each to its client's end.
func (s *server) dispatch(ctx context.Context) {
	wcs := make([]ibv.WC, 64)
	for ctx.Err() == nil {
		n, _ := s.cq.Wait(ctx, wcs)
		s.mu.Lock()
		for i := range wcs[:n] {
			if _, e := s.rings.Of(&wcs[i]); e != nil { // or it is of a client that has been closed
				if err := e.answer(&wcs[i]); err != nil {
					e.fail(err)
				}
			}
		}
		s.mu.Unlock()
	}
}

// answer answers a message, if the completion is of one.
func (e *end) answer(wc *ibv.WC) error {
	m, err := e.message(wc)
	if err != nil || m == nil {
		return err
	}
	return e.send(bytes.ToUpper(m)) // and no more than have room: who says more without listening is out
}

func must[T any](v T, err error) T {
	check(err)
	return v
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
