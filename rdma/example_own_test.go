package rdma_test

import (
	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

// A memory window has no type of its own in this package: Own gives it a lifetime.
// The protection domain cannot be closed before it, and CloseAll closes both.
func ExampleOwn() {
	dev, err := rdma.Open("", rdma.DeviceOptions{})
	if err != nil {
		return // there is no device here
	}
	defer dev.CloseAll()
	pd, err := dev.AllocPD()
	if err != nil {
		panic(err)
	}
	window, err := rdma.Own("memory window", func() (*ibv.MW, error) {
		return pd.Raw().AllocMW(ibv.MWType1)
	}, pd)
	if err != nil {
		panic(err)
	}
	_ = window.Raw().RKey // C's object, until Close

	// Output:
}
