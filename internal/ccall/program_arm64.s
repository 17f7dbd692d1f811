//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_arm64.h"

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  p+0(FP), R25         // the program, over all calls
	MOVD  first+8(FP), R24     // the step
	MOVD  n+16(FP), R26
	ENTER
	MOVD  $Step__size, R8
	MADD  R8, R24, R26, R26    // where steps end
	MOVD  Program_Object(R25), R0
	MOVD  Program_Start(R25), R9
	CALL  (R9)
	CMP   R24, R26
	BEQ   complete
step:
	MOVD  Program_Words(R25), R8
	MOVD  Step_WRID(R24), R10
	MOVWU Step_Flags(R24), R11
	MOVD  R10, 0(R8)
	MOVW  R11, 8(R8)
	MOVD  Step_Op(R24), R9
	CBZ   R9, address
	MOVD  Program_Object(R25), R0
	MOVD  (Step_OpArgs+0)(R24), R1
	MOVD  (Step_OpArgs+8)(R24), R2
	MOVD  (Step_OpArgs+16)(R24), R3
	MOVD  (Step_OpArgs+24)(R24), R4
	MOVD  (Step_OpArgs+32)(R24), R5
	CALL  (R9)
address:
	MOVD  Step_Address(R24), R9
	CBZ   R9, data
	MOVD  Program_Object(R25), R0
	MOVD  (Step_AddressArgs+0)(R24), R1
	MOVD  (Step_AddressArgs+8)(R24), R2
	MOVD  (Step_AddressArgs+16)(R24), R3
	CALL  (R9)
data:
	MOVD  Step_Data(R24), R9
	CBZ   R9, next
	MOVD  Program_Object(R25), R0
	MOVD  (Step_DataArgs+0)(R24), R1
	MOVD  (Step_DataArgs+8)(R24), R2
	MOVD  (Step_DataArgs+16)(R24), R3
	CALL  (R9)
next:
	ADD   $Step__size, R24
	CMP   R24, R26
	BNE   step
complete:
	MOVD  Program_Object(R25), R0
	MOVD  Program_Complete(R25), R9
	CALL  (R9)
	ERRNO(done)
	LEAVE
	MOVW  R22, result+24(FP)
	MOVW  R23, errno+28(FP)
	RETURN
portable:
	JMP   ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  p+0(FP), R25         // the poll, over all calls
	MOVD  into+8(FP), R24      // the record
	MOVD  n+16(FP), R9
	ENTER
	MOVD  R9, 0(RSP)           // how many there is room for
	MOVD  ExtendedPoll_CQ(R25), R0
	MOVD  ExtendedPoll_Attr(R25), R1
	MOVD  ExtendedPoll_Start(R25), R9
	CALL  (R9)
	CBNZW R0, empty
completion:
	MOVD  ExtendedPoll_Head(R25), R8
	MOVWU 4(R8), R10
	MOVD  8(R8), R11
	MOVW  R10, 4(R24)
	MOVD  R11, 8(R24)
	CBNZW R10, failure
	MOVD  ExtendedPoll_Fill(R25), R9
	CBZ   R9, filled
	MOVD  ExtendedPoll_CQ(R25), R0
	MOVD  ExtendedPoll_FillAt(R25), R1
	ADD   R24, R1
	CALL  (R9)
filled:
	MOVD  ExtendedPoll_OnSuccess(R25), R26 // the read
read:
	MOVD  Read_Fn(R26), R9
	CBZ   R9, readAll
	MOVD  ExtendedPoll_CQ(R25), R0
	CALL  (R9)
	MOVD  Read_Result(R26), R8
	MOVD  R0, (R24)(R8)
	ADD   $Read__size, R26
	JMP   read
failure:
	MOVD  ExtendedPoll_OnFailure(R25), R26
	JMP   read
readAll:
	MOVD  0(RSP), R8
	SUB   $1, R8
	MOVD  R8, 0(RSP)
	CBZ   R8, full
	MOVD  ExtendedPoll_Size(R25), R8
	ADD   R8, R24
	MOVD  ExtendedPoll_CQ(R25), R0
	MOVD  ExtendedPoll_Next(R25), R9
	CALL  (R9)
	CBZW  R0, completion
	ERRNO(last)
	MOVBU ExtendedPoll_NextEnds(R25), R8
	CBNZ  R8, left
end:
	MOVD  ExtendedPoll_CQ(R25), R0
	MOVD  ExtendedPoll_End(R25), R9
	CALL  (R9)
left:
	MOVD  0(RSP), R24
	LEAVE
	MOVD  n+16(FP), R8
	SUB   R24, R8
	MOVD  R8, got+24(FP)
	MOVW  R22, result+32(FP)
	MOVW  R23, errno+36(FP)
	RETURN
full:
	MOVD  ZR, R22
	MOVD  ZR, R23
	JMP   end
empty:
	ERRNO(first)
	JMP   left
portable:
	JMP   ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  fn+0(FP), R9
	MOVD  a+8(FP), R0
	MOVD  b+16(FP), R1
	MOVD  c+24(FP), R2
	MOVD  d+32(FP), R3
	MOVD  e+40(FP), R4
	MOVD  f+48(FP), R5
	ENTER
	CALL  (R9)
	MOVD  R0, R24
	ERRNO(done)
	LEAVE
	MOVD  R24, result+56(FP)
	MOVW  R23, errno+64(FP)
	RETURN
portable:
	JMP   ·callPortable(SB)
