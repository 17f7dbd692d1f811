//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_riscv64.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   fn+0(FP), X7
	MOV   object+8(FP), X10
	MOV   list+16(FP), X11
	ENTER
	MOV   X0, 0(X2)            // bad
	MOV   X2, X12
	CALL  X7
	ERRNO(done)
	MOV   0(X2), X22
	LEAVE
	MOVW  X20, result+24(FP)
	MOVW  X21, errno+28(FP)
	MOV   X22, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   fn+0(FP), X7
	MOV   cq+8(FP), X10
	MOVW  n+16(FP), X11
	MOV   wc+24(FP), X12
	ENTER
	CALL  X7
	ERRNO(done)
	LEAVE
	MOVW  X20, result+32(FP)
	MOVW  X21, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOV g, current+0(FP)
	MOV X2, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	MOV TP, ret+0(FP)
	RET
