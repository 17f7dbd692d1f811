package dl

import "unsafe"

// FileOf returns the path of the library that a function is in, as it was loaded, or "" if that is not known.
func FileOf(fn uintptr) string {
	dladdr, err := findSymbol(everywhere, "dladdr")
	if err != nil || fn == 0 {
		return ""
	}
	info := new(struct{ file, base, symbol, address uintptr }) // C's Dl_info
	if found, _ := Call(dladdr, fn, uintptr(unsafe.Pointer(info))); int32(found) == 0 {
		return ""
	}
	return text(info.file)
}

// text is a copy of a C string.
func text(address uintptr) string {
	if address == 0 {
		return ""
	}
	// Safe: it is C's memory, and C strings end with a zero. The detour is as in threadErrno.
	start := *(**byte)(unsafe.Pointer(&address))
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(start), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(start, n))
}
