package dl

import (
	"runtime"
	"unsafe"
)

// ObjectOf returns the file name, as the dynamic linker knows it, of the library or program that an address lies in, or ""
// where that cannot be found out. Any address will do.
func ObjectOf(address uintptr) string {
	dladdr, err := findSymbol(everywhere, "dladdr")
	if err != nil {
		return ""
	}
	// C's Dl_info: of the four pointers only the first is of interest. The name is the linker's, and stays for as long as
	// the library is loaded.
	info := new([4]*byte)
	found, _ := Call(dladdr, address, uintptr(unsafe.Pointer(info)))
	if int32(found) == 0 || info[0] == nil {
		return ""
	}
	length := 0
	// Safe: C's string ends with a zero.
	for *(*byte)(unsafe.Add(unsafe.Pointer(info[0]), length)) != 0 {
		length++
	}
	name := string(unsafe.Slice(info[0], length))
	runtime.KeepAlive(info)
	return name
}
