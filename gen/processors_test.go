package main

import (
	"go/build"
	"runtime"
	"slices"
)

// processor is one that programs are run for, under emulation if it is another.
type processor struct {
	arch, emulator, linker string
	signs                  bool // unsigned integers of 32 bits are passed as if they had a sign
}

// processors are those that the generated calls are tested on: this machine's, and
// those that can be emulated if that is asked for by the build tag cross.
func processors() (some []processor) {
	for _, p := range []processor{
		{"amd64", "", "/lib64/ld-linux-x86-64.so.2", false},
		{"arm64", "qemu-aarch64 -L /usr/aarch64-linux-gnu", "/lib/ld-linux-aarch64.so.1", false},
		{"ppc64le", "qemu-ppc64le -L /usr/powerpc64le-linux-gnu", "/lib64/ld64.so.2", false},
		{"riscv64", "qemu-riscv64 -L /usr/riscv64-linux-gnu", "/lib/ld-linux-riscv64-lp64d.so.1", true},
		{"s390x", "qemu-s390x -L /usr/s390x-linux-gnu", "/lib/ld64.so.1", false},
	} {
		switch {
		case p.arch == runtime.GOARCH:
			p.emulator = ""
		case !emulated, p.emulator == "":
			continue
		case p.arch == "s390x" && !slices.Contains(build.Default.ReleaseTags, "go1.27"):
			continue // C is called there without cgo from Go 1.27 on
		}
		some = append(some, p)
	}
	return some
}
