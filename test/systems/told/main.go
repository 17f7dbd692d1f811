// Command told says which libibverbs this process has loaded, of which release it is, and which devices there are, as
// lines of "library PATH", "release RELEASE" and "device NAME".
package main

import (
	"fmt"
	"log"

	"github.com/goverbs/goverbs/rdma"
)

func main() {
	devices, err := rdma.Devices()
	if err != nil {
		log.Fatal(err)
	}
	for _, device := range devices {
		fmt.Println("device", device.Name)
	}
}
