//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_loong64.h"

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	MOVBU ·direct(SB), R12
	BEQ   R12, portable
	MOVV  p+0(FP), R28         // the program, over all calls
	MOVV  first+8(FP), R29     // the step
	MOVV  n+16(FP), R31
	ENTER
	MOVV  $Step__size, R12
	MULV  R12, R31
	ADDV  R29, R31             // where steps end
	MOVV  Program_Object(R28), R4
	MOVV  Program_Start(R28), R13
	CALL  (R13)
	BEQ   R29, R31, complete
step:
	MOVV  Program_Words(R28), R12
	MOVV  Step_WRID(R29), R13
	MOVWU Step_Flags(R29), R14
	MOVV  R13, 0(R12)
	MOVW  R14, 8(R12)
	MOVV  Step_Op(R29), R13
	BEQ   R13, address
	MOVV  Program_Object(R28), R4
	MOVV  (Step_OpArgs+0)(R29), R5
	MOVV  (Step_OpArgs+8)(R29), R6
	MOVV  (Step_OpArgs+16)(R29), R7
	MOVV  (Step_OpArgs+24)(R29), R8
	MOVV  (Step_OpArgs+32)(R29), R9
	CALL  (R13)
address:
	MOVV  Step_Address(R29), R13
	BEQ   R13, data
	MOVV  Program_Object(R28), R4
	MOVV  (Step_AddressArgs+0)(R29), R5
	MOVV  (Step_AddressArgs+8)(R29), R6
	MOVV  (Step_AddressArgs+16)(R29), R7
	CALL  (R13)
data:
	MOVV  Step_Data(R29), R13
	BEQ   R13, next
	MOVV  Program_Object(R28), R4
	MOVV  (Step_DataArgs+0)(R29), R5
	MOVV  (Step_DataArgs+8)(R29), R6
	MOVV  (Step_DataArgs+16)(R29), R7
	CALL  (R13)
next:
	ADDV  $Step__size, R29
	BNE   R29, R31, step
complete:
	MOVV  Program_Object(R28), R4
	MOVV  Program_Complete(R28), R13
	CALL  (R13)
	ERRNO(done)
	LEAVE
	MOVW  R26, result+24(FP)
	MOVW  R27, errno+28(FP)
	RETURN
portable:
	JMP   ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R12
	BEQ   R12, portable
	MOVV  p+0(FP), R28         // the poll, over all calls
	MOVV  into+8(FP), R29      // the record
	MOVV  n+16(FP), R13
	ENTER
	MOVV  R13, 0(R3)           // how many there is room for
	MOVV  ExtendedPoll_CQ(R28), R4
	MOVV  ExtendedPoll_Attr(R28), R5
	MOVV  ExtendedPoll_Start(R28), R13
	CALL  (R13)
	MOVW  R4, R4
	BNE   R4, empty
completion:
	MOVV  ExtendedPoll_Head(R28), R12
	MOVWU 4(R12), R14
	MOVV  8(R12), R15
	MOVW  R14, 4(R29)
	MOVV  R15, 8(R29)
	BNE   R14, failure
	MOVV  ExtendedPoll_Fill(R28), R13
	BEQ   R13, filled
	MOVV  ExtendedPoll_CQ(R28), R4
	MOVV  ExtendedPoll_FillAt(R28), R5
	ADDV  R29, R5
	CALL  (R13)
filled:
	MOVV  ExtendedPoll_OnSuccess(R28), R31 // the read
read:
	MOVV  Read_Fn(R31), R13
	BEQ   R13, readAll
	MOVV  ExtendedPoll_CQ(R28), R4
	CALL  (R13)
	MOVV  Read_Result(R31), R12
	ADDV  R29, R12
	MOVV  R4, (R12)
	ADDV  $Read__size, R31
	JMP   read
failure:
	MOVV  ExtendedPoll_OnFailure(R28), R31
	JMP   read
readAll:
	MOVV  0(R3), R12
	ADDV  $-1, R12
	MOVV  R12, 0(R3)
	BEQ   R12, full
	MOVV  ExtendedPoll_Size(R28), R12
	ADDV  R12, R29
	MOVV  ExtendedPoll_CQ(R28), R4
	MOVV  ExtendedPoll_Next(R28), R13
	CALL  (R13)
	MOVW  R4, R4
	BEQ   R4, completion
	ERRNO(last)
	MOVBU ExtendedPoll_NextEnds(R28), R12
	BNE   R12, left
end:
	MOVV  ExtendedPoll_CQ(R28), R4
	MOVV  ExtendedPoll_End(R28), R13
	CALL  (R13)
left:
	MOVV  0(R3), R29
	LEAVE
	MOVV  n+16(FP), R12
	SUBV  R29, R12
	MOVV  R12, got+24(FP)
	MOVW  R26, result+32(FP)
	MOVW  R27, errno+36(FP)
	RETURN
full:
	MOVV  R0, R26
	MOVV  R0, R27
	JMP   end
empty:
	ERRNO(first)
	JMP   left
portable:
	JMP   ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	MOVBU ·direct(SB), R12
	BEQ   R12, portable
	MOVV  fn+0(FP), R13
	MOVV  a+8(FP), R4
	MOVV  b+16(FP), R5
	MOVV  c+24(FP), R6
	MOVV  d+32(FP), R7
	MOVV  e+40(FP), R8
	MOVV  f+48(FP), R9
	ENTER
	CALL  (R13)
	MOVV  R4, R28
	ERRNO(done)
	LEAVE
	MOVV  R28, result+56(FP)
	MOVW  R27, errno+64(FP)
	RETURN
portable:
	JMP   ·callPortable(SB)
