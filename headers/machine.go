package headers

// machine is what the layout of objects depends on.
type machine struct {
	pointer   int // bytes of a pointer and of a long
	bigEndian bool
}

var machines = map[string]machine{
	"386":     {pointer: 4},
	"amd64":   {pointer: 8},
	"arm":     {pointer: 4},
	"arm64":   {pointer: 8},
	"loong64": {pointer: 8},
	"ppc64le": {pointer: 8},
	"riscv64": {pointer: 8},
	"s390x":   {pointer: 8, bigEndian: true},
}

// embedded is what RDMA objects embed of a C library: its mutex and condition
// variable, in bytes, and how wide its time is. Those who create them also name
// the attributes of threads, and the kind of a mutex or condition variable.
type embedded struct {
	mutex, cond, condAlign int
	thread, kind           int
	time                   int
}

// embedded tells what the target's C library gives these types.
func (t Target) embedded() embedded {
	pointer := machines[t.Arch].pointer
	switch {
	case t.Libc == "freebsd":
		// All of them are pointers to what the library allocates.
		return embedded{mutex: pointer, cond: pointer, condAlign: pointer, thread: pointer, kind: pointer, time: 8}
	case t.Libc == "musl" && pointer == 8:
		return embedded{mutex: 40, cond: 48, condAlign: 8, thread: 56, kind: 4, time: 8}
	case t.Libc == "musl":
		return embedded{mutex: 24, cond: 48, condAlign: 4, thread: 36, kind: 4, time: 8}
	case t.Arch == "386":
		return embedded{mutex: 24, cond: 48, condAlign: 4, thread: 36, kind: 4, time: 4}
	case t.Arch == "arm":
		return embedded{mutex: 24, cond: 48, condAlign: 8, thread: 36, kind: 4, time: 4}
	case t.Arch == "arm64":
		return embedded{mutex: 48, cond: 48, condAlign: 8, thread: 64, kind: 8, time: 8}
	}
	return embedded{mutex: 40, cond: 48, condAlign: 8, thread: 56, kind: 4, time: 8}
}
