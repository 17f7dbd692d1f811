//go:build (linux || freebsd) && !android && !go1.28

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"

// Called the compiler's way: the first arguments in AX, BX, CX and DI, results in AX, BX, CX and DI, the current goroutine in
// R14, and zero in X15. R14, X15 and BP are to be kept, no other register. See direct_amd64.s for what is done here and why.

#define get_tls(r) MOVQ TLS, r
#define g(r) 0(r)(TLS*1)

// ENTER goes to the system stack, with the goroutine's stack pointer in R12. C keeps that, R14 and BP. A goroutine that
// calls again from where it called last has its place saved already. To look costs nothing, and each store would: one C
// function or the next takes a lock, and that waits for all stores before it.
#define ENTER \
	MOVQ SP, R12 \
	MOVQ const_offM(R14), R13 \
	MOVQ const_offG0(R13), R13 \
	CMPQ R13, R14 \
	JEQ  entered \
	MOVQ 0(SP), R8 \
	LEAQ 8(SP), R9 \
	CMPQ R8, const_offSchedPC(R14) \
	JNE  save \
	CMPQ R9, const_offSchedSP(R14) \
	JEQ  saved \
save: \
	MOVQ R8, const_offSchedPC(R14) \
	MOVQ R9, const_offSchedSP(R14) \
saved: \
	get_tls(R10) \
	MOVQ R13, g(R10) \
	MOVQ const_offSchedSP(R13), SP \
entered: \
	SUBQ $16, SP \
	ANDQ $~15, SP

// LEAVE undoes ENTER.
#define LEAVE \
	get_tls(R10) \
	MOVQ R12, SP \
	MOVQ R14, g(R10) \
	XORPS X15, X15

// ERRNO puts the C errno into BX when AX, the result, is -1, and goes on at label done. R15 carries the result over the call.
#define ERRNO \
	MOVQ ·errnoFunction(SB), DX \
	TESTQ DX, DX \
	JEQ  done \
	MOVL AX, R15 \
	CALL DX \
	MOVL (AX), BX \
	MOVL R15, AX \
	JMP  done

// func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad unsafe.Pointer)
TEXT ·postInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, DI
	MOVQ CX, SI
	ENTER
	MOVQ $0, 0(SP)            // bad
	MOVQ SP, DX
	CALL AX
	XORL BX, BX
	CMPL AX, $-1
	JEQ  failed
done:
	MOVQ 0(SP), CX
	LEAVE
	RET
failed:
	ERRNO

// func(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·pollInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ DI, DX
	MOVQ BX, DI
	MOVL CX, SI
	ENTER
	CALL AX
	XORL BX, BX
	CMPL AX, $-1
	JEQ  failed
done:
	LEAVE
	RET
failed:
	ERRNO

// func(a, b, c, d uintptr) (d, c, b, a uintptr), with 0 for a if R14 is not the current goroutine.
TEXT ·echoInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	get_tls(R10)
	CMPQ R14, g(R10)
	JEQ  current
	XORL AX, AX
current:
	XCHGQ AX, DI
	XCHGQ BX, CX
	RET

DATA ·postCode(SB)/8, $·postInRegisters(SB)
GLOBL ·postCode(SB), NOPTR|RODATA, $8
DATA ·pollCode(SB)/8, $·pollInRegisters(SB)
GLOBL ·pollCode(SB), NOPTR|RODATA, $8
DATA ·echoCode(SB)/8, $·echoInRegisters(SB)
GLOBL ·echoCode(SB), NOPTR|RODATA, $8
