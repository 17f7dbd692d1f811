// Command devices lists the machine's RDMA devices.
package main

import (
	"fmt"
	"log"

	"github.com/goverbs/goverbs/rdma"
)

func main() {
	devices, err := rdma.Devices()
	if err != nil {
		log.Fatal(err) // no libibverbs, say: it names the package to install
	}
	for _, device := range devices {
		fmt.Println(device)
	}
}
