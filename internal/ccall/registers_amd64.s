//go:build linux && !go1.28

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"
#include "registers_amd64.h"

// func(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·postInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ BX, DI
	MOVQ CX, SI
	ENTER
	MOVQ $0, 0(SP)            // bad
	MOVQ SP, DX
	CALL AX
	ERRNO(known)
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
	ERRNO(known)
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
	ERRNO(known)
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
	ERRNO(known)
	MOVL 0(SP), DI
	LEAVE
	XCHGQ AX, BX
	GOON(R13)

// func(a, b, c, d, e uintptr) (e, d, c, b, a uintptr), with 0 for a if R14 is not the current goroutine, or DX not the func value.
TEXT ·echoInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	get_tls(R10)
	CMPQ R14, g(R10)
	JNE  other
	LEAQ ·echoCode(SB), R11
	CMPQ DX, R11
	JEQ  current
other:
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
