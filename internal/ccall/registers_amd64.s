//go:build linux && !go1.28

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"

// Called the compiler's way: the first arguments in AX, BX, CX, DI and SI, results in AX, BX, CX, DI and SI, the current
// goroutine in R14, and zero in X15. R14, X15 and BP are to be kept, no other register. See direct_amd64.s for what is done
// here and why.

#define get_tls(r) MOVQ TLS, r
#define g(r) 0(r)(TLS*1)

// ENTER goes to the system stack, with the goroutine's stack pointer in R12. C keeps that, BX, R13, R14, R15 and BP. A
// goroutine that calls again from where it called last has its place saved already. To look costs nothing, and each store
// would: one C function or the next takes a lock, and that waits for all stores before it.
#define ENTER \
	MOVQ SP, R12 \
	MOVQ const_offM(R14), R11 \
	MOVQ const_offG0(R11), R11 \
	CMPQ R11, R14 \
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
	MOVQ R11, g(R10) \
	MOVQ const_offSchedSP(R11), SP \
entered: \
	SUBQ $16, SP \
	ANDQ $~15, SP

// LEAVE undoes ENTER.
#define LEAVE \
	get_tls(R10) \
	MOVQ R12, SP \
	MOVQ R14, g(R10) \
	XORPS X15, X15

// ERRNO puts the C errno into CX if AX, the result, is -1, and 0 otherwise.
#define ERRNO \
	XORL CX, CX \
	CMPL AX, $-1 \
	JNE  known \
	MOVQ ·errnoFunction(SB), DX \
	TESTQ DX, DX \
	JEQ  known \
	CALL DX \
	MOVL (AX), CX \
	MOVL $-1, AX \
known:

// GOON goes on at a Go function instead of returning.
#define GOON(funcValue) \
	MOVQ funcValue, DX \
	MOVQ (DX), R8 \
	JMP  R8

// RETURN returns, unless the goroutine is to stop: then it goes on at a function that gives way, and returns the same.
#define RETURN(rested) \
	CMPQ SP, const_offStackGuard(R14) \
	JLS  rest \
	RET \
rest: \
	GOON(rested)

// NOERROR makes the error that is returned nil.
#define NOERROR \
	XORL BX, BX \
	XORL CX, CX

// NOTASKED goes on at refused, a func value, with what the list is in CX.
#define NOTASKED(refused) \
	MOVQ CX, AX \
	XORL BX, BX \
	MOVL $const_NotAsked, CX \
	XORL DI, DI \
	GOON(refused)

// func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·postInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, DI
	MOVQ CX, SI
	ENTER
	MOVQ $0, 0(SP)            // bad
	MOVQ SP, DX
	CALL AX
	ERRNO
	MOVQ CX, BX
	MOVQ 0(SP), CX
	LEAVE
	RETURN(·postRested(SB))

// func(fn uintptr, object, first, unless unsafe.Pointer, refused FromRefused) (bad unsafe.Pointer, err error)
TEXT ·postFromInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	TESTQ DI, DI
	JNE  notAsked
	TESTQ CX, CX
	JEQ  nothing
	MOVQ BX, DI
	MOVQ CX, BX
	MOVQ SI, R13
	MOVQ CX, SI
	ENTER
	MOVQ $0, 0(SP)            // bad
	MOVQ SP, DX
	CALL AX
	TESTL AX, AX
	JNE  failed
	CMPQ 0(SP), $0
	JNE  failed
	LEAVE
nothing:
	XORL AX, AX
	NOERROR
	RETURN(·postFromRested(SB))
failed:
	ERRNO
	MOVQ 0(SP), DI
	LEAVE
	XCHGQ AX, BX
	GOON(R13)
notAsked:
	NOTASKED(SI)

// func(fn uintptr, object unsafe.Pointer, l *List, unless unsafe.Pointer, refused ListRefused) (accepted int, err error)
TEXT ·postListInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	TESTQ DI, DI
	JNE  notAsked
	CMPQ List_Len(CX), $0
	JEQ  nothing
	MOVQ BX, DI
	MOVQ CX, BX
	MOVQ SI, R13
	MOVQ List_First(BX), SI
	LEAQ List_bad(BX), DX
	ENTER
	CALL AX
	TESTL AX, AX
	JNE  failed
	CMPQ List_bad(BX), $0
	JNE  failed
	LEAVE
	MOVQ List_Len(BX), AX
accepted:
	NOERROR
	RETURN(·countRested(SB))
nothing:
	XORL AX, AX
	JMP  accepted
failed:
	ERRNO
	LEAVE
	MOVQ List_bad(BX), DI
	MOVQ $0, List_bad(BX)
	XCHGQ AX, BX
	GOON(R13)
notAsked:
	NOTASKED(SI)

// func(fn uintptr, cq, into unsafe.Pointer, n int, failed PollFailed) (got int, err error)
TEXT ·pollInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	TESTQ DI, DI
	JEQ  nothing
	MOVQ SI, R13
	MOVL $0x7FFFFFFF, SI
	CMPQ DI, SI
	CMOVQLT DI, SI
	MOVQ CX, DX
	MOVQ BX, DI
	MOVL SI, R15
	ENTER
	CALL AX
	CMPL AX, R15              // unsigned, so that a negative one is more than was asked for too
	JHI  failed
	LEAVE
	MOVL AX, AX
got:
	NOERROR
	RETURN(·countRested(SB))
nothing:
	XORL AX, AX
	JMP  got
failed:
	MOVL R15, 0(SP)
	ERRNO
	MOVL 0(SP), DI
	LEAVE
	XCHGQ AX, BX
	GOON(R13)

// func(a, b, c, d, e uintptr) (e, d, c, b, a uintptr), with 0 for a if R14 is not the current goroutine.
TEXT ·echoInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	get_tls(R10)
	CMPQ R14, g(R10)
	JEQ  current
	XORL AX, AX
current:
	XCHGQ AX, SI
	XCHGQ BX, DI
	RET

DATA ·postCode(SB)/8, $·postInRegisters(SB)
GLOBL ·postCode(SB), NOPTR|RODATA, $8
DATA ·postFromCode(SB)/8, $·postFromInRegisters(SB)
GLOBL ·postFromCode(SB), NOPTR|RODATA, $8
DATA ·postListCode(SB)/8, $·postListInRegisters(SB)
GLOBL ·postListCode(SB), NOPTR|RODATA, $8
DATA ·pollCode(SB)/8, $·pollInRegisters(SB)
GLOBL ·pollCode(SB), NOPTR|RODATA, $8
DATA ·echoCode(SB)/8, $·echoInRegisters(SB)
GLOBL ·echoCode(SB), NOPTR|RODATA, $8
