package main

import (
	"fmt"
	"slices"
	"syscall"
	"time"

	"github.com/goverbs/goverbs/ibv"
)

const (
	queueLength = 4096 // receives that a round posts in all
	warmUp      = 8    // one in so many of a round's posts is made before the clock is read
	rounds      = 15
)

// cost is the median nanoseconds of one post of a chain.
type cost struct {
	chain     int
	c, goverb float64
}

// measure times posts from Go and from C in turn, to the same queue pair, with
// the same work requests.
func measure(e *end, cLoop string, progress func(done, all int)) ([]cost, error) {
	postLoop, err := loadLoop(cLoop)
	if err != nil {
		return nil, err
	}
	qp, err := e.newQueuePair(queueLength)
	if err != nil {
		return nil, err
	}
	defer qp.close()

	lengths := []int{1, 4, 16, 64}
	var costs []cost
	for k, length := range lengths {
		chain, err := ibv.NewRecvChain(length, 1)
		if err != nil {
			return nil, err
		}
		warm := queueLength / length / warmUp
		posts := queueLength/length - warm
		var inC, inGo []float64
		// The first round warms up and does not count.
		for round := range rounds + 1 {
			ns := postLoop(qp.Raw(), chain.WR(0), warm, posts)
			if ns < 0 {
				return nil, fmt.Errorf("posting %d chains of %d from C: %w", posts, length, syscall.Errno(-ns))
			}
			if err := qp.empty(e, queueLength); err != nil {
				return nil, err
			}
			elapsed, err := goLoop(qp.Raw(), chain, warm, posts)
			if err != nil {
				return nil, err
			}
			if err := qp.empty(e, queueLength); err != nil {
				return nil, err
			}
			if round > 0 {
				inC = append(inC, float64(ns)/float64(posts))
				inGo = append(inGo, float64(elapsed.Nanoseconds())/float64(posts))
			}
			progress(k*(rounds+1)+round+1, len(lengths)*(rounds+1))
		}
		costs = append(costs, cost{length, median(inC), median(inGo)})
	}
	return costs, nil
}

// goLoop is post_loop in Go.
func goLoop(qp *ibv.QP, chain *ibv.RecvChain, warmUp, posts int) (time.Duration, error) {
	var start time.Time
	for i := -warmUp; i < posts; i++ {
		if i == 0 {
			start = time.Now()
		}
		if _, err := chain.Post(qp); err != nil {
			return 0, err
		}
	}
	return time.Since(start), nil
}

// empty takes n receives off the queue: in the error state they complete at
// once. The queue pair is in INIT again afterwards.
func (q *queuePair) empty(e *end, n int) error {
	if err := q.ToErr(); err != nil {
		return err
	}
	wcs := make([]ibv.WC, 256)
	if err := q.poll(n, wcs, func(*ibv.WC) error { return nil }); err != nil {
		return err
	}
	if err := q.ToReset(); err != nil {
		return err
	}
	return q.ToInit(e.port, 0)
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}
