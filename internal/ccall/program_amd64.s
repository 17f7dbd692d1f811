//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_amd64.h"
#include "program_amd64.h"

// KEEP puts aside what LEAVE needs of BX, and KEPT brings it back.
#define KEEP \
	SUBQ $16, SP \
	MOVQ BX, 0(SP)
#define KEPT \
	MOVQ 0(SP), BX

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ p+0(FP), AX
	MOVQ first+8(FP), SI
	MOVQ n+16(FP), DX
	ENTER
	KEEP
	MOVQ AX, R15              // the program, over all calls
	MOVQ SI, R13              // the step
	SHLQ $7, DX
	ADDQ SI, DX
	MOVQ DX, 8(SP)            // where steps end
	MOVQ Program_Object(AX), BX
	MOVQ BX, DI
	CALL Program_Start(AX)
	CMPQ R13, 8(SP)
	JEQ  complete
step:
	STEP(R13, R15, BX)
	CMPQ R13, 8(SP)
	JNE  step
complete:
	MOVQ BX, DI
	CALL Program_Complete(R15)
	ERRNO(done)
	KEPT
	LEAVE
	MOVL AX, result+24(FP)
	MOVL CX, errno+28(FP)
	RETURN
	OTHERSTEP(R13, BX)
portable:
	JMP  ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ p+0(FP), AX
	MOVQ into+8(FP), DX
	MOVQ n+16(FP), DI
	ENTER
	KEEP
	MOVQ AX, R15
	MOVQ DX, R13              // the record
	MOVQ DI, BX
	MOVQ ExtendedPoll_CQ(AX), DI
	MOVQ ExtendedPoll_Attr(AX), SI
	CALL ExtendedPoll_Start(AX)
	TESTL AX, AX
	JNE  empty
	POLL
polled:
	KEPT
	LEAVE
	MOVQ AX, got+24(FP)
	MOVL R13, result+32(FP)
	MOVL R15, errno+36(FP)
	RETURN
	OTHERPOLL
empty:
	ERRNO(first)
	MOVL AX, R13
	MOVL CX, R15
	XORL AX, AX
	JMP  polled
portable:
	JMP  ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ fn+0(FP), AX
	MOVQ a+8(FP), DI
	MOVQ b+16(FP), SI
	MOVQ c+24(FP), DX
	MOVQ d+32(FP), R10        // registers that are not needed on the way
	MOVQ e+40(FP), R11
	MOVQ f+48(FP), R15
	ENTER
	MOVQ R10, CX
	MOVQ R11, R8
	MOVQ R15, R9
	CALL AX
	MOVQ AX, R13
	ERRNO(done)
	LEAVE
	MOVQ R13, result+56(FP)
	MOVL CX, errno+64(FP)
	RETURN
portable:
	JMP  ·callPortable(SB)
