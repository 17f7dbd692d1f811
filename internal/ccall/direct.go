//go:build linux && (amd64 || arm64 || loong64 || ppc64le || riscv64 || s390x)

package ccall

import (
	"os"
	"unsafe"

	"github.com/goverbs/goverbs/internal/dl"
)

// What the assembly reads. Nothing writes it after this.
var (
	//lint:ignore U1000 read by the assembly
	direct, currentOffset = recognise(os.Getenv("GOVERBS_CCALL") != "portable")

	// errnoFunction is what the assembly asks for the thread's errno, or 0: errno is then 0 too.
	//lint:ignore U1000 read by the assembly
	errnoFunction = dl.ErrnoFunction()
)

// recognise reports whether the Go runtime is as the assembly expects it, and where it keeps the current goroutine. It
// does not look if it is not wanted.
func recognise(wanted bool) (recognised bool, currentOffset uintptr) {
	if !wanted {
		return false, 0
	}
	mem, err := openMemory()
	if err != nil {
		return false, 0
	}
	defer mem.close()
	if !assembled.holds(mem) {
		return false, 0
	}
	currentOffset, recognised = findCurrent(mem)
	return recognised, currentOffset
}

// post is Post. It branches to postPortable itself.
func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)

// poll calls result = fn(cq, n, wc), likewise.
func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
