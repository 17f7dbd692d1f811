package rdma

// lately is what was closed last, to say of a number or an address what it was. It has
// the last few thousand, so that it does not grow for ever.
type lately[K, V comparable] struct {
	by    map[K]V
	order [4096]struct { // a circle
		key   K
		value V
	}
	next int
}

func (g *lately[K, V]) add(key K, value V) {
	if g.by == nil {
		g.by = map[K]V{}
	}
	at := &g.order[g.next]
	g.remove(at.key, at.value)
	at.key, at.value = key, value
	g.next = (g.next + 1) % len(g.order)
	g.by[key] = value
}

// remove takes it away, unless something else has the key by now.
func (g *lately[K, V]) remove(key K, value V) {
	if g.by[key] == value {
		delete(g.by, key)
	}
}
