// Package conformance holds RDMA devices, and the providers behind them, to what the
// manual pages of libibverbs and the specifications of InfiniBand and iWARP say: one
// table of scenarios for all devices, in hardware or in software, through the public
// API of packages rdma and ibv.
//
//	report, err := conformance.Run("rxe0", conformance.Options{})
//	if err != nil {
//		log.Fatal(err) // there is no such device
//	}
//	fmt.Print(report)
//
// As a test: go test github.com/goverbs/goverbs/conformance -v -device rxe0. Every scenario
// opens the device, works on what it makes itself, with itself as its peer, and leaves
// nothing behind.
//
// Where providers differ, and may, one table says so with the reason: see
// [Differences]. Anything else that differs fails, and so does a difference that does
// not show any more. Of a device that the table does not know, scenarios need what it
// says that it has.
package conformance
