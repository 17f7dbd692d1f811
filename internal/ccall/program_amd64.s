//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_amd64.h"

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ p+0(FP), AX
	MOVQ first+8(FP), SI
	MOVQ n+16(FP), DI
	ENTER
	MOVQ AX, R13              // the program, over all calls
	MOVQ SI, R14              // the step
	IMULQ $Step__size, DI
	LEAQ (SI)(DI*1), R15      // where steps end
	MOVQ Program_Object(R13), DI
	MOVQ Program_Start(R13), AX
	CALL AX
	CMPQ R14, R15
	JEQ  complete
step:
	MOVQ Program_Words(R13), CX
	MOVQ Step_WRID(R14), DX
	MOVL Step_Flags(R14), SI
	MOVQ DX, 0(CX)
	MOVL SI, 8(CX)
	MOVQ Step_Op(R14), AX
	TESTQ AX, AX
	JEQ  address
	MOVQ Program_Object(R13), DI
	MOVQ (Step_OpArgs+0)(R14), SI
	MOVQ (Step_OpArgs+8)(R14), DX
	MOVQ (Step_OpArgs+16)(R14), CX
	MOVQ (Step_OpArgs+24)(R14), R8
	MOVQ (Step_OpArgs+32)(R14), R9
	CALL AX
address:
	MOVQ Step_Address(R14), AX
	TESTQ AX, AX
	JEQ  data
	MOVQ Program_Object(R13), DI
	MOVQ (Step_AddressArgs+0)(R14), SI
	MOVQ (Step_AddressArgs+8)(R14), DX
	MOVQ (Step_AddressArgs+16)(R14), CX
	CALL AX
data:
	MOVQ Step_Data(R14), AX
	TESTQ AX, AX
	JEQ  next
	MOVQ Program_Object(R13), DI
	MOVQ (Step_DataArgs+0)(R14), SI
	MOVQ (Step_DataArgs+8)(R14), DX
	MOVQ (Step_DataArgs+16)(R14), CX
	CALL AX
next:
	ADDQ $Step__size, R14
	CMPQ R14, R15
	JNE  step
complete:
	MOVQ Program_Object(R13), DI
	MOVQ Program_Complete(R13), AX
	CALL AX
	ERRNO(done)
	LEAVE
	MOVL AX, result+24(FP)
	MOVL CX, errno+28(FP)
	RETURN
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
	MOVQ AX, R13              // the poll, over all calls
	MOVQ DX, R14              // the record
	MOVQ DI, 8(SP)            // how many there is room for
	MOVQ ExtendedPoll_CQ(R13), DI
	MOVQ ExtendedPoll_Attr(R13), SI
	MOVQ ExtendedPoll_Start(R13), AX
	CALL AX
	TESTL AX, AX
	JNE  empty
completion:
	// Each of the head's parts as C stores it: a load of several stores would wait for all of them.
	MOVQ ExtendedPoll_Head(R13), CX
	MOVL 0(CX), AX
	MOVL 4(CX), DX
	MOVQ 8(CX), SI
	MOVL AX, 0(R14)
	MOVL DX, 4(R14)
	MOVQ SI, 8(R14)
	MOVQ (ExtendedPoll_OnSuccess+0)(R13), R15
	MOVQ (ExtendedPoll_OnSuccess+8)(R13), AX
	TESTL DX, DX
	JEQ  reads
	MOVQ (ExtendedPoll_OnFailure+0)(R13), R15
	MOVQ (ExtendedPoll_OnFailure+8)(R13), AX
reads:
	IMULQ $Read__size, AX
	ADDQ R15, AX
	MOVQ AX, 0(SP)            // where reads end
	JMP  more
read:
	MOVQ ExtendedPoll_CQ(R13), DI
	MOVQ Read_Arg(R15), SI
	ADDQ R14, SI
	MOVQ Read_Fn(R15), AX
	CALL AX
	MOVQ Read_Result(R15), CX
	MOVQ AX, (R14)(CX*1)
	ADDQ $Read__size, R15
more:
	CMPQ R15, 0(SP)
	JNE  read
	DECQ 8(SP)
	JEQ  full
	ADDQ ExtendedPoll_Size(R13), R14
	MOVQ ExtendedPoll_CQ(R13), DI
	MOVQ ExtendedPoll_Next(R13), AX
	CALL AX
	TESTL AX, AX
	JEQ  completion
	ERRNO(last)
	MOVL AX, R14
	MOVL CX, R15
end:
	MOVQ ExtendedPoll_CQ(R13), DI
	MOVQ ExtendedPoll_End(R13), AX
	CALL AX
left:
	MOVQ 8(SP), R13
	LEAVE
	MOVQ n+16(FP), AX
	SUBQ R13, AX
	MOVQ AX, got+24(FP)
	MOVL R14, result+32(FP)
	MOVL R15, errno+36(FP)
	RETURN
full:
	XORL R14, R14
	XORL R15, R15
	JMP  end
empty:
	ERRNO(first)
	MOVL AX, R14
	MOVL CX, R15
	JMP  left
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
