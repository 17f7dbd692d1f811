//go:build linux

package ccall

import (
	"encoding/binary"
	"syscall"
)

const wordSize = 8

// memory reads the process's memory where it may not be mapped. The kernel copies a word into a pipe, and refuses an
// address that is not mapped instead of raising a fault.
type memory struct {
	pipe   [2]int
	failed bool
}

func openMemory() (*memory, error) {
	m := &memory{}
	if err := syscall.Pipe2(m.pipe[:], syscall.O_CLOEXEC|syscall.O_NONBLOCK); err != nil {
		return nil, err
	}
	return m, nil
}

// word returns the word at an address. If it cannot, it returns 0 and sets failed.
func (m *memory) word(address uintptr) uintptr {
	var word [wordSize]byte
	if !m.read(address, word[:]) {
		m.failed = true
		return 0
	}
	return uintptr(binary.NativeEndian.Uint64(word[:]))
}

// read copies what is at an address, all or nothing. What it fills must fit into a pipe.
func (m *memory) read(address uintptr, into []byte) bool {
	size := uintptr(len(into))
	// Raw, because for the time of another system call the runtime changes what is read here: the goroutine's guard.
	if written, _, _ := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(m.pipe[1]), address, size); written != size {
		return false
	}
	n, err := syscall.Read(m.pipe[0], into)
	return n == len(into) && err == nil
}

func (m *memory) close() {
	_ = syscall.Close(m.pipe[0])
	_ = syscall.Close(m.pipe[1])
}
