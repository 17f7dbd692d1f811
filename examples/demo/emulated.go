package main

import (
	"os"
	"strings"
)

// emulated reports whether the processor is QEMU's own, made in software, where
// code runs many times slower than elsewhere.
func emulated() bool {
	text, err := os.ReadFile("/proc/cpuinfo")
	return err == nil && strings.Contains(string(text), "QEMU TCG")
}
