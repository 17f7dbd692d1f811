package rdma

import "github.com/goverbs/goverbs/ibv"

// Extended completion queues are not polled on FreeBSD.

type wcFields = struct{}

type extendedCQ struct{}

func (opts *CQOptions) create(ctx *ibv.Context, entries int, cqContext uintptr, channel *ibv.CompChannel) (*ibv.CQ, error) {
	return ctx.CreateCQWithChannel(entries, cqContext, channel, opts.Vector)
}

func newExtendedCQ(*ibv.CQ, *life, CQOptions) extendedCQ { return extendedCQ{} }

func (*extendedCQ) retire(*life) (revive func()) { return func() {} }
