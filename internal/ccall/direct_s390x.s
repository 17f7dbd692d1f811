//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_s390x.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  fn+0(FP), R1
	MOVD  object+8(FP), R2
	MOVD  list+16(FP), R3
	ENTER
	MOVD  $0, 160(R15)         // bad
	MOVD  $160(R15), R4
	CCALL
	ERRNO(done)
	MOVD  160(R15), R4
	LEAVE
	MOVW  R9, result+24(FP)
	MOVW  R3, errno+28(FP)
	MOVD  R4, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  fn+0(FP), R1
	MOVD  cq+8(FP), R2
	MOVW  n+16(FP), R3
	MOVD  wc+24(FP), R4
	ENTER
	CCALL
	ERRNO(done)
	LEAVE
	MOVW  R9, result+32(FP)
	MOVW  R3, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOVD g, current+0(FP)
	MOVD R15, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	THREAD
	MOVD R5, ret+0(FP)
	RET
