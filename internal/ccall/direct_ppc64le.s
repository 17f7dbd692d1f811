//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_ppc64le.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R8
	CMP   R8, $0
	BEQ   portable
	MOVD  fn+0(FP), R9
	MOVD  object+8(FP), R3
	MOVD  list+16(FP), R4
	ENTER
	MOVD  R0, 96(R1)           // bad
	ADD   $96, R1, R5
	MOVD  R9, R12
	CCALL
	ERRNO(done)
	MOVD  96(R1), R20
	LEAVE
	MOVW  R18, result+24(FP)
	MOVW  R19, errno+28(FP)
	MOVD  R20, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R8
	CMP   R8, $0
	BEQ   portable
	MOVD  fn+0(FP), R9
	MOVD  cq+8(FP), R3
	MOVW  n+16(FP), R4
	MOVD  wc+24(FP), R5
	ENTER
	MOVD  R9, R12
	CCALL
	ERRNO(done)
	LEAVE
	MOVW  R18, result+32(FP)
	MOVW  R19, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOVD g, current+0(FP)
	MOVD R1, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	MOVD R13, ret+0(FP)
	RET
