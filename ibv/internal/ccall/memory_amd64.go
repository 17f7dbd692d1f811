//go:build (linux || freebsd) && !android

package ccall

import (
	"encoding/binary"
	"syscall"
)

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
	const size = 8
	var word [size]byte
	written, _, _ := syscall.Syscall(syscall.SYS_WRITE, uintptr(m.pipe[1]), address, size)
	if written != size {
		m.failed = true
		return 0
	}
	if n, err := syscall.Read(m.pipe[0], word[:]); n != size || err != nil {
		m.failed = true
		return 0
	}
	return uintptr(binary.NativeEndian.Uint64(word[:]))
}

func (m *memory) close() {
	_ = syscall.Close(m.pipe[0])
	_ = syscall.Close(m.pipe[1])
}
