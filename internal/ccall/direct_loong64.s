//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_loong64.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R12
	BEQ   R12, portable
	MOVV  fn+0(FP), R13
	MOVV  object+8(FP), R4
	MOVV  list+16(FP), R5
	ENTER
	MOVV  R0, 0(R3)            // bad
	MOVV  R3, R6
	CALL  (R13)
	ERRNO(done)
	MOVV  0(R3), R28
	LEAVE
	MOVW  R26, result+24(FP)
	MOVW  R27, errno+28(FP)
	MOVV  R28, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R12
	BEQ   R12, portable
	MOVV  fn+0(FP), R13
	MOVV  cq+8(FP), R4
	MOVW  n+16(FP), R5
	MOVV  wc+24(FP), R6
	ENTER
	CALL  (R13)
	ERRNO(done)
	LEAVE
	MOVW  R26, result+32(FP)
	MOVW  R27, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOVV g, current+0(FP)
	MOVV R3, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	MOVV R2, ret+0(FP)
	RET
