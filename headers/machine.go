package headers

import (
	"fmt"
	"strings"
)

// machine is what C code sees of a processor before any header is read.
type machine struct {
	macros     []string // by which headers recognise it
	pointer    int      // bytes of a pointer and of a long
	charIsByte bool     // a plain char is unsigned
	wideIsUint bool     // a wchar_t is unsigned
	bigEndian  bool
}

var machines = map[string]machine{
	"386":     {macros: []string{"__i386__", "__i386"}, pointer: 4},
	"amd64":   {macros: []string{"__x86_64__", "__x86_64", "__amd64__"}, pointer: 8},
	"arm":     {macros: []string{"__arm__"}, pointer: 4, charIsByte: true, wideIsUint: true},
	"arm64":   {macros: []string{"__aarch64__"}, pointer: 8, charIsByte: true, wideIsUint: true},
	"loong64": {macros: []string{"__loongarch__", "__loongarch64", "__loongarch_lp64"}, pointer: 8},
	"ppc64le": {macros: []string{"__powerpc__", "__powerpc64__", "__PPC64__"}, pointer: 8, charIsByte: true},
	"riscv64": {macros: []string{"__riscv"}, pointer: 8, charIsByte: true},
	"s390x":   {macros: []string{"__s390__", "__s390x__"}, pointer: 8, charIsByte: true, bigEndian: true},
}

// embedded is what RDMA objects embed of a C library: its mutex and condition
// variable, in bytes, and how wide its time is. Nothing else of a C library is
// part of their layout.
type embedded struct {
	mutex, cond, condAlign int
	time                   int
}

// embedded tells what the target's C library gives these types.
func (t Target) embedded() embedded {
	pointer := machines[t.Arch].pointer
	switch {
	case t.Libc == "freebsd":
		// Both types are pointers to what the library allocates.
		return embedded{mutex: pointer, cond: pointer, condAlign: pointer, time: 8}
	case t.Libc == "musl" && pointer == 8:
		return embedded{mutex: 40, cond: 48, condAlign: 8, time: 8}
	case t.Libc == "musl":
		return embedded{mutex: 24, cond: 48, condAlign: 4, time: 8}
	case t.Arch == "386":
		return embedded{mutex: 24, cond: 48, condAlign: 4, time: 4}
	case t.Arch == "arm":
		return embedded{mutex: 24, cond: 48, condAlign: 8, time: 4}
	case t.Arch == "arm64":
		return embedded{mutex: 48, cond: 48, condAlign: 8, time: 8}
	}
	return embedded{mutex: 40, cond: 48, condAlign: 8, time: 8}
}

// Predefined is the text of the macros that the target's C compiler defines
// before it reads anything, as far as RDMA headers and the stubs ask for them.
func (t Target) Predefined() string {
	m := machines[t.Arch]
	var b strings.Builder
	def := func(name string, value any) { fmt.Fprintf(&b, "#define %s %v\n", name, value) }
	def("__STDC__", 1)
	def("__STDC_VERSION__", "201710L")
	def("__STDC_HOSTED__", 1)
	def("__GNUC__", 12)
	def("__GNUC_MINOR__", 2)
	def("__unix__", 1)
	switch t.OS {
	case "linux":
		def("__linux__", 1)
		def("__linux", 1)
	case "freebsd":
		def("__FreeBSD__", 14)
	}
	for _, name := range m.macros {
		def(name, 1)
	}
	if t.Arch == "riscv64" {
		def("__riscv_xlen", 64)
	}
	biggest := 16
	if t.Arch == "arm" || t.Arch == "s390x" {
		biggest = 8
	}
	def("__BIGGEST_ALIGNMENT__", biggest)
	// C23's form without a message, which compilers take in older C too.
	b.WriteString("#define _Static_assert(condition, ...) _Static_assert(condition, \"\" __VA_ARGS__)\n")
	def("__CHAR_BIT__", 8)
	def("__INT_MAX__", 0x7fffffff)
	def("__SIZEOF_SHORT__", 2)
	def("__SIZEOF_INT__", 4)
	def("__SIZEOF_LONG__", m.pointer)
	def("__SIZEOF_LONG_LONG__", 8)
	def("__SIZEOF_POINTER__", m.pointer)
	def("__SIZEOF_SIZE_T__", m.pointer)
	def("__UINT16_TYPE__", "unsigned short")
	def("__UINT32_TYPE__", "unsigned int")
	if m.pointer == 8 {
		def("__LP64__", 1)
		def("_LP64", 1)
		def("__UINT64_TYPE__", "unsigned long")
		def("__INT64_TYPE__", "long")
		def("__SIZE_TYPE__", "unsigned long")
		def("__PTRDIFF_TYPE__", "long")
		def("__WORDSIZE", 64)
	} else {
		def("__UINT64_TYPE__", "unsigned long long")
		def("__INT64_TYPE__", "long long")
		def("__SIZE_TYPE__", "unsigned int")
		def("__PTRDIFF_TYPE__", "int")
		def("__WORDSIZE", 32)
	}
	wide := "int"
	if m.wideIsUint {
		wide = "unsigned int"
	}
	def("__WCHAR_TYPE__", wide)
	if m.charIsByte {
		def("__CHAR_UNSIGNED__", 1)
	}
	def("__ORDER_LITTLE_ENDIAN__", 1234)
	def("__ORDER_BIG_ENDIAN__", 4321)
	if m.bigEndian {
		def("__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__")
	} else {
		def("__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__")
	}
	// What the stubs ask for.
	e := t.embedded()
	if t.Libc == "freebsd" {
		def("__STUB_PTHREAD_POINTERS", 1)
	}
	def("__STUB_PTHREAD_MUTEX_SIZE", e.mutex)
	def("__STUB_PTHREAD_COND_SIZE", e.cond)
	def("__STUB_PTHREAD_COND_ALIGN", e.condAlign)
	def("__STUB_TIME_SIZE", e.time)
	return b.String()
}
