package dl

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
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
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil {
		if file := mappedFile(string(maps), l.dynamic); file != "" {
			return file
		}
	}
	name := Text(l.name)
	if file, err := filepath.EvalSymlinks(name); err == nil {
		return file
	}
	return name
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
