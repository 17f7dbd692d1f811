//go:build !linux

package ibv

// host is where a machine shows its RDMA devices; this package knows where only
// on Linux.
type host struct{}

var thisHost host

func exhausted() *fault { return nil }

func (host) devices() []string { return nil }

func (host) unlisted(string) *fault { return nil }

func (host) closed(string) *fault { return nil }
