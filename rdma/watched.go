package rdma

import (
	"net"
	"sync"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

// watched are the byte streams to its peers that a queue pair watches. They know C's
// object, and not the handle, which the collector may take meanwhile.
type watched struct {
	raw *ibv.QP

	mu  sync.Mutex // held for changes of C's object, so that there is one at a time
	all map[*stream]struct{}
}

// stream is one of them.
type stream struct {
	conn  net.Conn
	over  bool          // it has nothing to do with the queue pair any more
	ended chan struct{} // closed when conn is, and nobody reads it
}

// keepAlive has a host that has vanished, or is out of reach, end a stream after 6 s.
var keepAlive = net.KeepAliveConfig{Enable: true, Idle: 3 * time.Second, Interval: time.Second, Count: 3}

// watch watches one more.
func (w *watched) watch(conn net.Conn) (ended <-chan struct{}) {
	setKeepAlive(conn)
	one := &stream{conn: conn, ended: make(chan struct{})}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[*stream]struct{}{}
	}
	w.all[one] = struct{}{}
	go w.read(one)
	return one.ended
}

// setKeepAlive sets it where there is such a thing: on TCP, and below TLS.
func setKeepAlive(conn net.Conn) {
	for {
		switch c := conn.(type) {
		case interface {
			SetKeepAliveConfig(net.KeepAliveConfig) error
		}:
			_ = c.SetKeepAliveConfig(keepAlive) // the system's own will do where that fails
			return
		case interface{ NetConn() net.Conn }:
			conn = c.NetConn()
		default:
			return
		}
	}
}

// read waits for the end of a stream, and ends the queue pair then. A byte is the end
// too, for a peer that keeps to the rules sends none.
func (w *watched) read(one *stream) {
	defer close(one.ended)
	var b [1]byte
	for n, err := 0, error(nil); n == 0 && err == nil; {
		n, err = one.conn.Read(b[:])
	}
	w.mu.Lock()
	if !one.over && w.raw.QPType != ibv.QPTUD {
		// Where it fails, as for a device that is gone, there is nobody to tell.
		_ = w.raw.Modify(&ibv.QPAttr{QPState: ibv.QPSErr}, ibv.QPAttrMaskState)
	}
	w.mu.Unlock()
	_ = one.conn.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.all, one)
}

// modify is C's. A queue pair that goes back to RESET has no peer any more.
func (w *watched) modify(attr *ibv.QPAttr, mask ibv.QPAttrMask) error {
	return w.end(mask&ibv.QPAttrMaskState != 0 && attr.QPState == ibv.QPSReset, func() error { return w.raw.Modify(attr, mask) })
}

// destroy ends what is watched when C has destroyed the queue pair, unless it is not
// this package's to destroy.
func (w *watched) destroy(destroy func() error) error {
	return w.end(true, func() error {
		if destroy == nil {
			return nil
		}
		return destroy()
	})
}

// end changes C's object. If that is the end of the connection, it closes the streams,
// and waits until nobody reads them.
func (w *watched) end(last bool, change func() error) error {
	w.mu.Lock()
	var open []*stream
	err := change()
	if err == nil && last {
		for one := range w.all {
			one.over = true
			open = append(open, one)
		}
	}
	w.mu.Unlock() // which readers need
	for _, one := range open {
		_ = one.conn.Close()
		<-one.ended
	}
	return err
}
