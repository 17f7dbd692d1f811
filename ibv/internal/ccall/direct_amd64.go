//go:build (linux || freebsd) && !android

package ccall

import (
	"os"
	"unsafe"

	"github.com/goverbs/goverbs/ibv/internal/dl"
)

var (
	// direct is read by the assembly. Nothing writes it after this.
	direct = os.Getenv("GOVERBS_CCALL") != "portable" && assembled.holds()

	// errnoFunction is what the assembly asks for the thread's errno, or 0: errno is then 0 too.
	//lint:ignore U1000 read by the assembly
	errnoFunction = dl.ErrnoFunction()
)

// post is Post. It branches to postPortable itself, because Post with two calls in it would be too big to be inlined.
func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer)

// poll is Poll, likewise.
func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
