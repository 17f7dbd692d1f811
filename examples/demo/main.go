// Command demo shows goverbs at work on a real RDMA device: it posts pre-built
// chains of receives to a queue pair, sends real data to itself, checks every
// byte, and then measures what a post costs, beside the same loop in C.
//
// make demo builds it, with the C loop, and runs it on the machine's own device
// or on Soft-RoCE in a guest.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/goverbs/goverbs/rdma"
)

func main() {
	device := flag.String("device", "", "the RDMA device; the first one with an active port if not given")
	cLoop := flag.String("c", "", "the shared object made of c/postloop.c; without it there is nothing to compare with")
	messages := flag.Int("messages", 64_000, "how many messages to send and check")
	flag.Parse()
	if err := run(*device, *cLoop, *messages); err != nil {
		fmt.Fprintln(os.Stderr, "demo:", err)
		os.Exit(1)
	}
}

func run(device, cLoop string, messages int) error {
	if messages < 1 {
		return fmt.Errorf("-messages is %d: at least one is needed", messages)
	}
	dev, err := rdma.Open(device, rdma.DeviceOptions{})
	if err != nil {
		return err
	}
	defer dev.CloseAll()
	end, err := newEnd(dev)
	if err != nil {
		return err
	}
	fmt.Printf("\n  Device     %v, port %d, GID %v, %v\n", dev.Raw().Device, end.port, &end.gid.GID, dev.Raw().Device.TransportType)

	traffic, err := receive(end, messages, progress("  Receiving  "))
	if err != nil {
		return err
	}
	var costs []cost
	if cLoop != "" {
		if costs, err = measure(end, cLoop, progress("  Measuring  ")); err != nil {
			return err
		}
	}
	printTables(traffic, costs)
	return nil
}

// progress returns a function that shows how much of the work is done.
func progress(label string) func(done, all int) {
	const dots = 40
	fmt.Print(label)
	shown := 0
	return func(done, all int) {
		for ; shown < dots*done/all; shown++ {
			fmt.Print("·")
			if shown == dots-1 {
				fmt.Println(" done")
			}
		}
	}
}
