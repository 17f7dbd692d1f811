package model

import "slices"

// Shrink is a part of the sequence for which fails is still true, from which nothing
// can be taken: no call, no work request, no entry. It calls fails some hundred times,
// which must not depend on what was before.
func Shrink(s Sequence, fails func(Sequence) bool) Sequence {
	for shorter := true; shorter; {
		shorter = false
		for size := max(len(s)/2, 1); size > 0; size /= 2 {
			for at := 0; at < len(s); {
				tried := slices.Delete(slices.Clone(s), at, min(at+size, len(s)))
				if len(tried) > 0 && fails(tried) {
					s, shorter = tried, true
					continue
				}
				at += size
			}
		}
		for at := 0; at < len(s); at++ {
			for _, simpler := range simplerThan(s[at]) {
				tried := slices.Clone(s)
				tried[at] = simpler
				if fails(tried) {
					s, shorter = tried, true
					at--
					break
				}
			}
		}
	}
	return s
}

// simplerThan is the call with one thing less, in each way.
func simplerThan(c Call) (simpler []Call) {
	switch c := c.(type) {
	case PostRecv:
		for _, wrs := range fewer(c.WRs, simplerRecv) {
			simpler = append(simpler, PostRecv{c.QP, wrs})
		}
	case PostSRQRecv:
		for _, wrs := range fewer(c.WRs, simplerRecv) {
			simpler = append(simpler, PostSRQRecv{c.SRQ, wrs})
		}
	case PostSend:
		for _, wrs := range fewer(c.WRs, simplerSend) {
			simpler = append(simpler, PostSend{c.QP, wrs})
		}
	case ModifyQP:
		for _, zero := range []func(){
			func() { c.Without = 0 }, func() { c.With = 0 },
		} {
			before := c
			if zero(); c != before {
				simpler = append(simpler, c)
			}
			c = before
		}
	}
	return simpler
}

// fewer is the elements without one of them, if that leaves any, or with one simpler.
func fewer[T any](elements []T, simplerThan func(T) []T) (lists [][]T) {
	for i := range elements {
		if len(elements) > 1 {
			lists = append(lists, slices.Delete(slices.Clone(elements), i, i+1))
		}
		for _, s := range simplerThan(elements[i]) {
			list := slices.Clone(elements)
			list[i] = s
			lists = append(lists, list)
		}
	}
	return lists
}

func simplerRecv(wr RecvWR) (simpler []RecvWR) {
	for _, entries := range fewerEntries(wr.SGEs) {
		simpler = append(simpler, RecvWR{wr.ID, entries})
	}
	return simpler
}

func simplerSend(wr SendWR) (simpler []SendWR) {
	for _, entries := range fewerEntries(wr.SGEs) {
		s := wr
		s.SGEs = entries
		simpler = append(simpler, s)
	}
	for rest := wr.Flags; rest != 0; rest &= rest - 1 {
		s := wr
		s.Flags &^= rest & -rest
		simpler = append(simpler, s)
	}
	if wr.Imm != 0 {
		s := wr
		s.Imm = 0
		simpler = append(simpler, s)
	}
	return simpler
}

func fewerEntries(entries []SGE) (lists [][]SGE) {
	for i := range entries {
		lists = append(lists, slices.Delete(slices.Clone(entries), i, i+1))
	}
	return lists
}
