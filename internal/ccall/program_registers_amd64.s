//go:build linux && !go1.28

#include "go_asm.h"
#include "textflag.h"
#include "registers_amd64.h"
#include "program_amd64.h"

// func(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	CMPL Program_checked(AX), $0
	JEQ  other
	SHLQ $7, CX
	ADDQ BX, CX
	ENTER
	SUBQ $16, SP
	MOVQ AX, R15              // the program, over all calls
	MOVQ BX, R13              // the step
	MOVQ CX, BX               // where steps end
	MOVQ Program_Object(AX), DI
	CALL Program_Start(AX)
	MOVQ BX, 0(SP)            // not before the start, which takes a lock: that waits for stores
	MOVQ Program_Object(R15), BX
	CMPQ R13, 0(SP)
	JEQ  complete
	PCALIGN $64
step:
	STEP(R13, R15, BX)
	CMPQ R13, 0(SP)
	JNE  step
complete:
	MOVQ BX, DI
	CALL Program_Complete(R15)
	ERRNO(known)
	MOVQ CX, BX
	LEAVE
	RETURN(·playRested(SB))
	OTHERSTEP(R13, BX)
other:
	GOON(·playOther(SB))

// func(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollExInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	CMPL ExtendedPoll_checked(AX), $0
	JEQ  other
	LEAQ -1(CX), DX
	CMPQ DX, $const_mostPolled
	JCC  other
	ENTER
	MOVQ BX, R13              // the record
	MOVQ AX, R15
	MOVQ CX, BX
	MOVQ ExtendedPoll_CQ(AX), DI
	MOVQ ExtendedPoll_Attr(AX), SI
	CALL ExtendedPoll_Start(AX)
	TESTL AX, AX
	JNE  empty
	POLL
	LEAVE
polled:
	MOVL R13, BX
	MOVL R15, CX
	RETURN(·pollExRested(SB))
	OTHERPOLL
empty:
	ERRNO(first)
	MOVL AX, R13
	MOVL CX, R15
	LEAVE
	XORL AX, AX
	JMP  polled
other:
	GOON(·pollExOther(SB))

// func(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·callInRegisters(SB), NOSPLIT|NOFRAME, $0-0
	MOVQ DI, DX
	MOVQ BX, DI
	XCHGQ CX, SI
	MOVQ R8, R13              // ENTER changes these two
	MOVQ R9, R15
	ENTER
	MOVQ R13, R8
	MOVQ R15, R9
	CALL AX
	MOVQ AX, R15
	ERRNO(known)
	LEAVE
	MOVQ R15, AX
	MOVQ CX, BX
	RETURN(·callRested(SB))

DATA ·playCode(SB)/8, $·playInRegisters(SB)
GLOBL ·playCode(SB), NOPTR|RODATA, $8
DATA ·pollExCode(SB)/8, $·pollExInRegisters(SB)
GLOBL ·pollExCode(SB), NOPTR|RODATA, $8
DATA ·callCode(SB)/8, $·callInRegisters(SB)
GLOBL ·callCode(SB), NOPTR|RODATA, $8
