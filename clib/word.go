package clib

import "github.com/goverbs/goverbs/internal/ccall"

// Word is the word that an unsigned integer of 32 bits is passed in. On riscv64 and loong64 it is a copy of bit 31 from
// there on, though the number is unsigned; elsewhere it is 0.
func Word[T ~uint32](v T) uintptr { return ccall.Unsigned(uint32(v)) }

// Bool is the word that C's bool is passed in.
func Bool(v bool) uintptr {
	if v {
		return 1
	}
	return 0
}
