//go:build !freebsd

package ibvtest

import "github.com/goverbs/goverbs/ibv"

// rate is a rate in the two ways of counting that C has.
type rate struct {
	rate ibv.Rate
	mult int32 // of 2.5 Gb/s, or -1 of those that rdma-core gives none
	mbps int32
}

// rates are all of C's, with what rdma-core says of them.
var rates = [...]rate{
	{ibv.Rate2_5Gbps, 1, 2500},
	{ibv.Rate5Gbps, 2, 5000},
	{ibv.Rate10Gbps, 4, 10000},
	{ibv.Rate14Gbps, -1, 14062},
	{ibv.Rate20Gbps, 8, 20000},
	{ibv.Rate25Gbps, -1, 25781},
	{ibv.Rate28Gbps, 11, 28125},
	{ibv.Rate30Gbps, 12, 30000},
	{ibv.Rate40Gbps, 16, 40000},
	{ibv.Rate50Gbps, 20, 53125},
	{ibv.Rate56Gbps, -1, 56250},
	{ibv.Rate60Gbps, 24, 60000},
	{ibv.Rate80Gbps, 32, 80000},
	{ibv.Rate100Gbps, -1, 103125},
	{ibv.Rate112Gbps, -1, 112500},
	{ibv.Rate120Gbps, 48, 120000},
	{ibv.Rate168Gbps, -1, 168750},
	{ibv.Rate200Gbps, -1, 206250},
	{ibv.Rate300Gbps, -1, 309375},
	{ibv.Rate400Gbps, 160, 425000},
	{ibv.Rate600Gbps, 240, 637500},
	{ibv.Rate800Gbps, 320, 850000},
	{ibv.Rate1200Gbps, 480, 1275000},
}

// rateOf is the rate that a number is of, or ibv.RateMax.
func rateOf(number int32, of func(rate) int32) ibv.Rate {
	for _, r := range rates {
		if n := of(r); n == number && n > 0 {
			return r.rate
		}
	}
	return ibv.RateMax
}

// numberOf is a number of a rate, or -1.
func numberOf(wanted ibv.Rate, of func(rate) int32) int32 {
	for _, r := range rates {
		if r.rate == wanted {
			return of(r)
		}
	}
	return -1
}

func multOf(r rate) int32 { return r.mult }

func mbpsOf(r rate) int32 { return r.mbps }
