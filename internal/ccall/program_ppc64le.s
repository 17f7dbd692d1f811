//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_ppc64le.h"

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	MOVBZ ·direct(SB), R8
	CMP   R8, $0
	BEQ   portable
	MOVD  p+0(FP), R21         // the program, over all calls
	MOVD  first+8(FP), R22     // the step
	MOVD  n+16(FP), R23
	ENTER
	MOVD  $Step__size, R8
	MULLD R8, R23
	ADD   R22, R23             // where steps end
	MOVD  Program_Object(R21), R3
	MOVD  Program_Start(R21), R12
	CCALL
	CMP   R22, R23
	BEQ   complete
step:
	MOVD  Program_Words(R21), R8
	MOVD  Step_WRID(R22), R9
	MOVWZ Step_Flags(R22), R10
	MOVD  R9, 0(R8)
	MOVW  R10, 8(R8)
	MOVD  Step_Op(R22), R12
	CMP   R12, $0
	BEQ   address
	MOVD  Program_Object(R21), R3
	MOVD  (Step_OpArgs+0)(R22), R4
	MOVD  (Step_OpArgs+8)(R22), R5
	MOVD  (Step_OpArgs+16)(R22), R6
	MOVD  (Step_OpArgs+24)(R22), R7
	MOVD  (Step_OpArgs+32)(R22), R8
	CCALL
address:
	MOVD  Step_Address(R22), R12
	CMP   R12, $0
	BEQ   data
	MOVD  Program_Object(R21), R3
	MOVD  (Step_AddressArgs+0)(R22), R4
	MOVD  (Step_AddressArgs+8)(R22), R5
	MOVD  (Step_AddressArgs+16)(R22), R6
	CCALL
data:
	MOVD  Step_Data(R22), R12
	CMP   R12, $0
	BEQ   next
	MOVD  Program_Object(R21), R3
	MOVD  (Step_DataArgs+0)(R22), R4
	MOVD  (Step_DataArgs+8)(R22), R5
	MOVD  (Step_DataArgs+16)(R22), R6
	CCALL
next:
	ADD   $Step__size, R22
	CMP   R22, R23
	BNE   step
complete:
	MOVD  Program_Object(R21), R3
	MOVD  Program_Complete(R21), R12
	CCALL
	ERRNO(done)
	LEAVE
	MOVW  R18, result+24(FP)
	MOVW  R19, errno+28(FP)
	RETURN
portable:
	JMP   ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R8
	CMP   R8, $0
	BEQ   portable
	MOVD  p+0(FP), R21         // the poll, over all calls
	MOVD  into+8(FP), R22      // the record
	MOVD  n+16(FP), R25        // how many there is room for
	ENTER
	MOVD  ExtendedPoll_CQ(R21), R3
	MOVD  ExtendedPoll_Attr(R21), R4
	MOVD  ExtendedPoll_Start(R21), R12
	CCALL
	CMPW  R3, $0
	BNE   empty
completion:
	MOVD  ExtendedPoll_Head(R21), R8
	MOVWZ 4(R8), R10
	MOVD  8(R8), R11
	MOVW  R10, 4(R22)
	MOVD  R11, 8(R22)
	CMPW  R10, $0
	BNE   failure
	MOVD  ExtendedPoll_Fill(R21), R12
	CMP   R12, $0
	BEQ   filled
	MOVD  ExtendedPoll_CQ(R21), R3
	MOVD  ExtendedPoll_FillAt(R21), R4
	ADD   R22, R4
	CCALL
filled:
	MOVD  ExtendedPoll_OnSuccess(R21), R23 // the read
read:
	MOVD  Read_Fn(R23), R12
	CMP   R12, $0
	BEQ   readAll
	MOVD  ExtendedPoll_CQ(R21), R3
	CCALL
	MOVD  Read_Result(R23), R8
	MOVD  R3, (R22)(R8)
	ADD   $Read__size, R23
	BR    read
failure:
	MOVD  ExtendedPoll_OnFailure(R21), R23
	BR    read
readAll:
	ADD   $-1, R25
	CMP   R25, $0
	BEQ   full
	MOVD  ExtendedPoll_Size(R21), R8
	ADD   R8, R22
	MOVD  ExtendedPoll_CQ(R21), R3
	MOVD  ExtendedPoll_Next(R21), R12
	CCALL
	CMPW  R3, $0
	BEQ   completion
	ERRNO(last)
	MOVBZ ExtendedPoll_NextEnds(R21), R8
	CMP   R8, $0
	BNE   left
end:
	MOVD  ExtendedPoll_CQ(R21), R3
	MOVD  ExtendedPoll_End(R21), R12
	CCALL
left:
	LEAVE
	MOVD  n+16(FP), R8
	SUB   R25, R8
	MOVD  R8, got+24(FP)
	MOVW  R18, result+32(FP)
	MOVW  R19, errno+36(FP)
	RETURN
full:
	MOVD  R0, R18
	MOVD  R0, R19
	BR    end
empty:
	ERRNO(first)
	BR    left
portable:
	JMP   ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	MOVBZ ·direct(SB), R8
	CMP   R8, $0
	BEQ   portable
	MOVD  fn+0(FP), R12
	MOVD  a+8(FP), R3
	MOVD  b+16(FP), R4
	MOVD  c+24(FP), R5
	MOVD  d+32(FP), R6
	MOVD  e+40(FP), R7
	MOVD  f+48(FP), R9         // R8 is needed on the way
	ENTER
	MOVD  R9, R8
	CCALL
	MOVD  R3, R21
	ERRNO(done)
	LEAVE
	MOVD  R21, result+56(FP)
	MOVW  R19, errno+64(FP)
	RETURN
portable:
	JMP   ·callPortable(SB)
