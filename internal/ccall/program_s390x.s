//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_s390x.h"

// MORE makes room for four words more above what ENTER has left: from 160(R15) on, where C also looks for a sixth argument.
#define MORE \
	ADD  $-32, R15 \
	MOVD $0, 0(R15)

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  p+0(FP), R2
	MOVD  first+8(FP), R9      // the step
	MOVD  n+16(FP), R3
	ENTER
	MORE
	MOVD  R6, 176(R15)         // the goroutine, for R6 is also for an argument
	MOVD  R2, 168(R15)         // the program
	MOVD  $Step__size, R4
	MULLD R4, R3
	ADD   R9, R3
	MOVD  R3, R12              // where steps end
	MOVD  Program_Start(R2), R1
	MOVD  Program_Object(R2), R2
	CCALL
	CMPBEQ R9, R12, complete
step:
	MOVD  168(R15), R4
	MOVD  Program_Words(R4), R5
	MOVD  Program_Object(R4), R2
	MOVD  Step_WRID(R9), R3
	MOVWZ Step_Flags(R9), R4
	MOVD  R3, 0(R5)
	MOVW  R4, 8(R5)
	MOVD  Step_Op(R9), R1
	CMPBEQ R1, $0, address
	MOVD  (Step_OpArgs+32)(R9), R4
	MOVD  R4, 160(R15)
	MOVD  (Step_OpArgs+0)(R9), R3
	MOVD  (Step_OpArgs+8)(R9), R4
	MOVD  (Step_OpArgs+16)(R9), R5
	MOVD  (Step_OpArgs+24)(R9), R6
	CCALL
address:
	MOVD  Step_Address(R9), R1
	CMPBEQ R1, $0, data
	MOVD  168(R15), R4
	MOVD  Program_Object(R4), R2
	MOVD  (Step_AddressArgs+0)(R9), R3
	MOVD  (Step_AddressArgs+8)(R9), R4
	MOVD  (Step_AddressArgs+16)(R9), R5
	CCALL
data:
	MOVD  Step_Data(R9), R1
	CMPBEQ R1, $0, next
	MOVD  168(R15), R4
	MOVD  Program_Object(R4), R2
	MOVD  (Step_DataArgs+0)(R9), R3
	MOVD  (Step_DataArgs+8)(R9), R4
	MOVD  (Step_DataArgs+16)(R9), R5
	CCALL
next:
	ADD   $Step__size, R9
	CMPBNE R9, R12, step
complete:
	MOVD  168(R15), R4
	MOVD  Program_Object(R4), R2
	MOVD  Program_Complete(R4), R1
	CCALL
	ERRNO(done)
	MOVD  176(R15), R6
	LEAVE
	MOVW  R9, result+24(FP)
	MOVW  R3, errno+28(FP)
	RETURN
portable:
	JMP   ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  p+0(FP), R4
	MOVD  into+8(FP), R9       // the record
	MOVD  n+16(FP), R3
	ENTER
	MORE
	MOVD  R3, 160(R15)         // how many there is room for
	MOVD  R4, 168(R15)         // the poll
	MOVD  ExtendedPoll_CQ(R4), R2
	MOVD  ExtendedPoll_Attr(R4), R3
	MOVD  ExtendedPoll_Start(R4), R1
	CCALL
	CMPW  R2, $0
	BNE   empty
completion:
	MOVD  168(R15), R4
	MOVD  ExtendedPoll_Head(R4), R5
	MOVWZ 4(R5), R2
	MOVD  8(R5), R3
	MOVW  R2, 4(R9)
	MOVD  R3, 8(R9)
	CMPBNE R2, $0, failure
	MOVD  ExtendedPoll_Fill(R4), R1
	CMPBEQ R1, $0, filled
	MOVD  ExtendedPoll_CQ(R4), R2
	MOVD  ExtendedPoll_FillAt(R4), R3
	ADD   R9, R3
	CCALL
	MOVD  168(R15), R4
filled:
	MOVD  ExtendedPoll_OnSuccess(R4), R12 // the read
read:
	MOVD  Read_Fn(R12), R1
	CMPBEQ R1, $0, readAll
	MOVD  168(R15), R4
	MOVD  ExtendedPoll_CQ(R4), R2
	CCALL
	MOVD  Read_Result(R12), R3
	MOVD  R2, 0(R9)(R3*1)
	ADD   $Read__size, R12
	BR    read
failure:
	MOVD  ExtendedPoll_OnFailure(R4), R12
	BR    read
readAll:
	MOVD  160(R15), R1
	ADD   $-1, R1
	MOVD  R1, 160(R15)
	CMPBEQ R1, $0, full
	MOVD  168(R15), R4
	MOVD  ExtendedPoll_Size(R4), R1
	ADD   R1, R9
	MOVD  ExtendedPoll_CQ(R4), R2
	MOVD  ExtendedPoll_Next(R4), R1
	CCALL
	CMPW  R2, $0
	BEQ   completion
	ERRNO(last)
	MOVD  R3, R12
	MOVD  168(R15), R4
	MOVBZ ExtendedPoll_NextEnds(R4), R1
	CMPBNE R1, $0, left
end:
	MOVD  168(R15), R4
	MOVD  ExtendedPoll_CQ(R4), R2
	MOVD  ExtendedPoll_End(R4), R1
	CCALL
left:
	MOVD  160(R15), R2
	MOVD  R12, R3
	LEAVE
	MOVD  n+16(FP), R1
	SUB   R2, R1
	MOVD  R1, got+24(FP)
	MOVW  R9, result+32(FP)
	MOVW  R3, errno+36(FP)
	RETURN
full:
	MOVD  $0, R9
	MOVD  $0, R12
	BR    end
empty:
	ERRNO(first)
	MOVD  R3, R12
	BR    left
portable:
	JMP   ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  fn+0(FP), R1
	MOVD  a+8(FP), R2
	MOVD  b+16(FP), R3
	MOVD  c+24(FP), R4
	ENTER
	MORE
	MOVD  R6, 176(R15)         // the goroutine, for R6 is also for an argument
	MOVD  56(R7), R5           // f, and what else has no place on the way, from the goroutine's stack
	MOVD  R5, 160(R15)
	MOVD  40(R7), R5           // d
	MOVD  48(R7), R6           // e
	CCALL
	MOVD  R2, R12
	ERRNO(done)
	MOVD  176(R15), R6
	MOVD  R12, R4              // LEAVE needs R12
	LEAVE
	MOVD  R4, result+56(FP)
	MOVW  R3, errno+64(FP)
	RETURN
portable:
	JMP   ·callPortable(SB)
