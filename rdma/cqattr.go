package rdma

// Entries is how many completions the queue has room for, which may be more than
// was asked for; 0 after Close. Any goroutine may call it.
func (cq *CQ) Entries() int {
	n, _ := ask(cq.lifetime(), "look at", func() (int, error) { return int(cq.raw.CQE), nil })
	return n
}

// Resize gives the queue room for at least entries completions; Entries says how
// many it has then. The completions in it stay: see [ibv.CQ.Resize]. Any goroutine
// may call it. In checked mode, it is an error to ask for less than what the queues
// that complete on it may have.
//
// C: ibv_resize_cq(3)
func (cq *CQ) Resize(entries int) error {
	return cq.lifetime().during("resize", func() error { return cq.checked.resize(cq.raw, entries) })
}
