package rdma

import "math/bits"

// use is that an unfinished work request reads or writes memory of the process.
type use struct {
	start, end uint64
	work       *work
}

// memoryInUse finds the uses of memory that overlap with others. What writes is
// apart from what reads, because reads do not mind each other.
type memoryInUse struct{ read, written memoryUses }

// memoryUses has the uses in buckets: those of at most 2^k bytes by their start's
// multiple of 2^k, for each k that occurs.
type memoryUses [65]struct {
	buckets map[uint64]map[*use]struct{}
	uses    int
}

func (u *use) level() int { return bits.Len64(u.end - u.start) }

func (m *memoryUses) add(u *use) {
	k := u.level()
	if m[k].buckets == nil {
		m[k].buckets = map[uint64]map[*use]struct{}{}
	}
	bucket := m[k].buckets[u.start>>k]
	if bucket == nil {
		bucket = map[*use]struct{}{}
		m[k].buckets[u.start>>k] = bucket
	}
	bucket[u] = struct{}{}
	m[k].uses++
}

func (m *memoryUses) remove(u *use) {
	k := u.level()
	bucket := m[k].buckets[u.start>>k]
	delete(bucket, u)
	if len(bucket) == 0 {
		delete(m[k].buckets, u.start>>k)
	}
	m[k].uses--
}

// find calls found for uses that overlap with another one, until it returns true.
func (m *memoryUses) find(u *use, found func(*use) bool) {
	for k := range m {
		if m[k].uses == 0 {
			continue
		}
		// One that begins before may reach into it, by 2^k bytes at most.
		first, last := u.start>>k, (u.end-1)>>k
		if first > 0 {
			first--
		}
		if last-first >= uint64(len(m[k].buckets)) {
			for _, bucket := range m[k].buckets {
				if overlapping(bucket, u, found) {
					return
				}
			}
			continue
		}
		for at := first; ; at++ {
			if overlapping(m[k].buckets[at], u, found) {
				return
			}
			if at == last {
				break
			}
		}
	}
}

func overlapping(bucket map[*use]struct{}, u *use, found func(*use) bool) bool {
	for other := range bucket {
		if other.start < u.end && u.start < other.end && found(other) {
			return true
		}
	}
	return false
}

func (m *memoryInUse) of(w *work) *memoryUses {
	if w.writes {
		return &m.written
	}
	return &m.read
}

// add takes note of what a work request uses.
func (m *memoryInUse) add(w *work) {
	for i := range w.uses {
		m.of(w).add(&w.uses[i])
	}
}

// remove forgets what a work request uses.
func (m *memoryInUse) remove(w *work) {
	for i := range w.uses {
		m.of(w).remove(&w.uses[i])
	}
	w.uses = nil
}

// conflict is a use that a work request must not be posted beside, and its own.
func (m *memoryInUse) conflict(w *work) (mine, other *use) {
	for i := range w.uses {
		mine = &w.uses[i]
		look := func(u *use) bool {
			if w.minds(u.work) {
				other = u
			}
			return other != nil
		}
		if m.written.find(mine, look); other == nil && w.writes {
			m.read.find(mine, look)
		}
		if other != nil {
			return mine, other
		}
	}
	return nil, nil
}
