package dl

import "unsafe"

// FileOf returns the path of the library or program that an address lies in, as it was loaded, or "" if that is not known.
// Any address will do.
func FileOf(address uintptr) string {
	dladdr, err := findSymbol(everywhere, "dladdr")
	if err != nil || address == 0 {
		return ""
	}
	info := new(struct{ file, base, symbol, address uintptr }) // C's Dl_info
	if found, _ := Call(dladdr, address, uintptr(unsafe.Pointer(info))); int32(found) == 0 {
		return ""
	}
	return Text(info.file)
}

// Text copies the string at an address of C's, up to its NUL. NULL is "".
func Text(address uintptr) string {
	if address == 0 {
		return ""
	}
	// Safe: it is C's memory, and C promises a NUL, behind which nothing is read. The detour is as in threadErrno.
	start := *(**byte)(unsafe.Pointer(&address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}
