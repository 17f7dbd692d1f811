// Command told says which libibverbs this process has loaded, of which release it is, and which devices there are, as
// lines of "library FILE", "release RELEASE" and "device NAME".
package main

import (
	"fmt"
	"log"

	"github.com/goverbs/goverbs/ibv"
	"github.com/goverbs/goverbs/rdma"
)

func main() {
	library, err := ibv.Library()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("library", library.File)
	if library.Release != "" {
		fmt.Println("release", library.Release)
	}
	devices, err := rdma.Devices()
	if err != nil {
		log.Fatal(err)
	}
	for _, device := range devices {
		fmt.Println("device", device.Name)
	}
}
