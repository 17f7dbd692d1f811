package dl

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"unsafe"
)

// File is the path of the file that the library was loaded from, with all links followed, or the name that it was loaded by
// where the system does not tell. It is the file of that time: it may have been replaced since.
func (l *Library) File() string { return l.file() }

func newLibrary(name string, handle uintptr) *Library {
	l := &Library{name: name, handle: handle}
	l.file = sync.OnceValue(func() string {
		if file := loadedFile(handle); file != "" {
			return file
		}
		return name
	})
	return l
}

// loadedFile asks the dynamic linker for a library's file, and the kernel, which knows what links led to at that time.
func loadedFile(handle uintptr) string {
	const linkMap = 2 // RTLD_DI_LINKMAP of glibc, musl and FreeBSD
	dlinfo, err := findSymbol(everywhere, "dlinfo")
	if err != nil {
		return ""
	}
	// The first members of C's struct link_map are the same in all three.
	type link struct{ _, name, dynamic uintptr }
	found := new(*link)
	if failed, _ := Call(dlinfo, handle, linkMap, uintptr(unsafe.Pointer(found))); int32(failed) != 0 || *found == nil {
		return ""
	}
	l := **found // safe: it is C's memory, which is there as long as the library
	if file := mappedFile(readQuietly("/proc/self/maps"), l.dynamic); file != "" {
		return file
	}
	name := Text(l.name)
	if file, err := filepath.EvalSymlinks(name); err == nil {
		return file
	}
	return name
}

// readQuietly reads a file, "" if it cannot be. Package os readies the poller for that, and where file descriptors are used
// up, which errors are to tell of, that ends the process.
func readQuietly(name string) string {
	fd, err := syscall.Open(name, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return ""
	}
	defer syscall.Close(fd)
	var text []byte
	for block := make([]byte, 1<<16); ; {
		n, err := syscall.Read(fd, block)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return string(text)
		}
		text = append(text, block[:n]...)
	}
}

// mappedFile is the file that is mapped at an address, as Linux tells in /proc/PID/maps.
func mappedFile(maps string, address uintptr) string {
	for line := range strings.Lines(maps) {
		var start, end uintptr
		if _, err := fmt.Sscanf(line, "%x-%x ", &start, &end); err != nil || address < start || address >= end {
			continue
		}
		at := strings.IndexByte(line, '/')
		if at < 0 {
			return ""
		}
		return strings.TrimSuffix(strings.TrimSuffix(line[at:], "\n"), " (deleted)")
	}
	return ""
}
