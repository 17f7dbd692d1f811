package ibv

import (
	"fmt"
)

// Mbps is the rate in Mb/s. The error is syscall.EINVAL for [RateMax] and what
// else the library does not know as a rate.
//
// C: ibv_rate_to_mbps(3); -1 is an error
func (r Rate) Mbps() (int, error) {
	mbps, err := cRateToMbps(r)
	return rateNumber("Mb/s", r, mbps, err)
}

// Mult is the rate as a multiple of 2.5 Gb/s, the slowest. The error is
// syscall.EINVAL for [RateMax], for rates that are no multiple, such as
// [Rate14Gbps] may be, and for what the library does not know.
//
// C: ibv_rate_to_mult(3); -1 is an error
func (r Rate) Mult() (int, error) {
	mult, err := cRateToMult(r)
	return rateNumber("a multiple of 2.5 Gb/s", r, mult, err)
}

func rateNumber(unit string, r Rate, n int32, err error) (int, error) {
	act := action{op: fmt.Sprintf("find %v in %s", r, unit)}
	if err == nil && n < 0 {
		return 0, act.invalid("this libibverbs has no number for it")
	}
	return int(n), act.from(err)
}

// RateOfMbps is the rate of so many Mb/s, or [RateMax] if there is no such rate.
//
// C: mbps_to_ibv_rate(3)
func RateOfMbps(mbps int32) (Rate, error) {
	rate, err := cMbpsToIbvRate(mbps)
	return rate, action{op: fmt.Sprintf("find the rate of %d Mb/s", mbps)}.from(err)
}

// RateOfMult is the rate of so many times 2.5 Gb/s, or [RateMax] if there is no
// such rate.
//
// C: mult_to_ibv_rate(3)
func RateOfMult(mult int32) (Rate, error) {
	rate, err := cMultToIbvRate(mult)
	return rate, action{op: fmt.Sprintf("find the rate of %d times 2.5 Gb/s", mult)}.from(err)
}
