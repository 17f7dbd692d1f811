//go:build riscv64 || loong64

package clib

// signExtends tells that the C calling convention widens all integers of 32 bits by their highest bit.
const signExtends = true
