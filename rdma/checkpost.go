package rdma

import "syscall"

// entries checks the entries of a work request.
func (c *checker) entries(pd *life, r *request, written bool) ([]use, *mistake) {
	var uses []use
	for k := range r.sges {
		u, m := c.entry(pd, r, k, written)
		if m != nil {
			return nil, m
		}
		if u != nil {
			uses = append(uses, *u)
		}
	}
	return uses, nil
}

// post checks work requests and posts them: all or none, or if parts do, as many as
// the queue holds. The lock is held.
func (q *checkedQueue) post(requests []request, parts bool, at stack, check func(*request) ([]use, *mistake), workOf func(*request) *work, post func(n int) (int, error)) (int, *mistake, error) {
	works := make([]*work, len(requests))
	for i := range requests {
		r := &requests[i]
		var uses []use
		m := r.closedEntry()
		if m == nil {
			uses, m = check(r)
		}
		if m != nil {
			m.text += "; nothing was posted"
			return 0, m, nil
		}
		w := workOf(r)
		w.queue, w.wrID, w.at, w.uses = q, r.wrID, at, uses
		for k := range w.uses {
			w.uses[k].work = w
		}
		works[i] = w
	}
	n, m := q.admit(works)
	if m != nil && m.errno == syscall.EINVAL {
		m.text += "; nothing was posted"
		return 0, m, nil
	}
	if m != nil && !parts {
		q.takeBack(works[:n])
		n = 0
	}
	if n == 0 {
		return 0, m, nil
	}
	accepted, err := post(n)
	switch {
	case accepted < 0:
		q.lost = true
		q.forget()
	case accepted < n:
		q.takeBack(works[accepted:n])
	}
	if err != nil {
		return accepted, nil, err
	}
	return accepted, m, nil
}
