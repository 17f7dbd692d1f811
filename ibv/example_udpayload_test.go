package ibv_test

import (
	"fmt"
	"log"

	"github.com/goverbs/goverbs/ibv"
)

// On a UD queue pair a message starts behind the bytes of the header, which its
// buffer must have room for.
func ExampleWC_UDPayload() {
	buf := make([]byte, ibv.GRHLength+1024)
	copy(buf[ibv.GRHLength:], "hello") // as the device does
	wc := ibv.WC{Opcode: ibv.WCRecv, ByteLen: ibv.GRHLength + 5}
	payload, err := wc.UDPayload(buf)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d bytes, of which %q is the message\n", wc.ByteLen, payload)
	// Output: 45 bytes, of which "hello" is the message
}
