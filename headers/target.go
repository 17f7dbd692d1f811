package headers

import (
	"fmt"
	"strings"
)

// Target is a machine that C headers are read for.
type Target struct {
	OS   string // a GOOS
	Arch string // a GOARCH
	Libc string // "glibc", "musl" or "freebsd"
}

// String is the target as the generator's -target flag takes it.
func (t Target) String() string { return t.OS + "/" + t.Arch + "/" + t.Libc }

// BigEndian reports whether the target stores the most significant byte first.
func (t Target) BigEndian() bool { return t.Arch == "s390x" }

// machine is what C code sees of a processor before any header is read.
type machine struct {
	macros string // the macro by which headers recognise it
	long   int    // bytes of a long and of a pointer
	// signedChar and the pthread sizes are the C library's, glibc's here.
	signedChar   bool
	pthreadMutex int
	condAlign    int
}

var machines = map[string]machine{
	"386":     {macros: "__i386__", long: 4, signedChar: true, pthreadMutex: 24, condAlign: 4},
	"amd64":   {macros: "__x86_64__", long: 8, signedChar: true, pthreadMutex: 40, condAlign: 8},
	"arm":     {macros: "__arm__", long: 4, pthreadMutex: 24, condAlign: 8},
	"arm64":   {macros: "__aarch64__", long: 8, pthreadMutex: 48, condAlign: 8},
	"loong64": {macros: "__loongarch64", long: 8, signedChar: true, pthreadMutex: 40, condAlign: 8},
	"ppc64le": {macros: "__powerpc64__", long: 8, pthreadMutex: 40, condAlign: 8},
	"riscv64": {macros: "__riscv", long: 8, pthreadMutex: 40, condAlign: 8},
	"s390x":   {macros: "__s390x__", long: 8, pthreadMutex: 40, condAlign: 8},
}

// GoTargets lists the targets that Go bindings are written for.
func GoTargets() []Target {
	var all []Target
	for _, arch := range []string{"amd64", "arm64", "loong64", "ppc64le", "riscv64", "s390x"} {
		all = append(all, Target{OS: "linux", Arch: arch, Libc: "glibc"})
	}
	return all
}

// ParseTarget reads "os/arch" or "os/arch/libc".
func ParseTarget(s string) (Target, error) {
	parts := strings.Split(s, "/")
	if len(parts) < 2 || len(parts) > 3 {
		return Target{}, fmt.Errorf("target %q: want os/arch or os/arch/libc, such as linux/amd64", s)
	}
	t := Target{OS: parts[0], Arch: parts[1], Libc: "glibc"}
	if len(parts) == 3 {
		t.Libc = parts[2]
	}
	if _, ok := machines[t.Arch]; !ok || t.OS != "linux" {
		return Target{}, fmt.Errorf("target %q: unknown system or processor", s)
	}
	if t.Libc != "glibc" && t.Libc != "musl" {
		return Target{}, fmt.Errorf("target %q: unknown C library %q, want glibc or musl", s, t.Libc)
	}
	return t, nil
}

// Predefined is the text of the macros that the target's C compiler defines
// before it reads anything, as far as RDMA headers and the stubs ask for them.
func (t Target) Predefined() string {
	m := machines[t.Arch]
	if t.Libc == "musl" {
		// musl lays pthread types out by the size of a pointer alone.
		m.pthreadMutex, m.condAlign = 24, m.long
		if m.long == 8 {
			m.pthreadMutex = 40
		}
	}
	var b strings.Builder
	def := func(name string, value any) { fmt.Fprintf(&b, "#define %s %v\n", name, value) }
	def("__STDC__", 1)
	def("__STDC_VERSION__", "201710L")
	def("__GNUC__", 12)
	def("__GNUC_MINOR__", 2)
	def("__linux__", 1)
	def("__linux", 1)
	def("__unix__", 1)
	def(m.macros, 1)
	def("__CHAR_BIT__", 8)
	def("__INT_MAX__", 0x7fffffff)
	def("__SIZEOF_INT__", 4)
	def("__SIZEOF_LONG__", m.long)
	def("__SIZEOF_LONG_LONG__", 8)
	def("__SIZEOF_POINTER__", m.long)
	def("__SIZEOF_SIZE_T__", m.long)
	def("__UINT16_TYPE__", "unsigned short")
	def("__UINT32_TYPE__", "unsigned int")
	if m.long == 8 {
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
	def("__WCHAR_TYPE__", "int")
	if !m.signedChar {
		def("__CHAR_UNSIGNED__", 1)
	}
	def("__ORDER_LITTLE_ENDIAN__", 1234)
	def("__ORDER_BIG_ENDIAN__", 4321)
	if t.BigEndian() {
		def("__BYTE_ORDER__", "__ORDER_BIG_ENDIAN__")
	} else {
		def("__BYTE_ORDER__", "__ORDER_LITTLE_ENDIAN__")
	}
	def("__STUB_PTHREAD_MUTEX_SIZE", m.pthreadMutex)
	def("__STUB_PTHREAD_COND_ALIGN", m.condAlign)
	return b.String()
}
