//go:build !freebsd

package ibvtest

import (
	"bytes"
	"runtime"
	"strconv"
	"time"
)

// bubble is a bubble of testing/synctest, by its number, or 0. What is made in one, the program must not touch from
// elsewhere, or the runtime ends it. A fabric may see several: one that was made before them ends after them, and with it
// what they have left open.
type bubble int64

// bubbleHere is that of this goroutine.
func bubbleHere() bubble {
	if now := time.Now(); now != now.Round(0) {
		return 0 // times have no monotonic clock's reading in bubbles, and only there
	}
	// It is in the first line of a trace: goroutine 5 [running, synctest bubble 3].
	var buffer [128]byte
	line, _, _ := bytes.Cut(buffer[:runtime.Stack(buffer[:], false)], []byte("]"))
	_, number, _ := bytes.Cut(line, []byte("synctest bubble "))
	n, _ := strconv.ParseInt(string(number), 10, 64)
	return bubble(n)
}

// open reports whether what was made in the bubble may be touched here.
func (b bubble) open() bool { return b == 0 || b == bubbleHere() }
