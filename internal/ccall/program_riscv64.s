//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_riscv64.h"

// func playSteps(p *Program, first *Step, n int) (result, errno int32)
TEXT ·playSteps(SB), NOSPLIT|NOFRAME, $0-32
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   p+0(FP), X22         // the program, over all calls
	MOV   first+8(FP), X23     // the step
	MOV   n+16(FP), X24
	ENTER
	MOV   $Step__size, X6
	MUL   X6, X24, X24
	ADD   X23, X24, X24        // where steps end
	MOV   Program_Object(X22), X10
	MOV   Program_Start(X22), X7
	CALL  X7
	BEQ   X23, X24, complete
step:
	MOV   Program_Words(X22), X6
	MOV   Step_WRID(X23), X7
	MOVWU Step_Flags(X23), X28
	MOV   X7, 0(X6)
	MOVW  X28, 8(X6)
	MOV   Step_Op(X23), X7
	BEQZ  X7, address
	MOV   Program_Object(X22), X10
	MOV   (Step_OpArgs+0)(X23), X11
	MOV   (Step_OpArgs+8)(X23), X12
	MOV   (Step_OpArgs+16)(X23), X13
	MOV   (Step_OpArgs+24)(X23), X14
	MOV   (Step_OpArgs+32)(X23), X15
	CALL  X7
address:
	MOV   Step_Address(X23), X7
	BEQZ  X7, data
	MOV   Program_Object(X22), X10
	MOV   (Step_AddressArgs+0)(X23), X11
	MOV   (Step_AddressArgs+8)(X23), X12
	MOV   (Step_AddressArgs+16)(X23), X13
	CALL  X7
data:
	MOV   Step_Data(X23), X7
	BEQZ  X7, next
	MOV   Program_Object(X22), X10
	MOV   (Step_DataArgs+0)(X23), X11
	MOV   (Step_DataArgs+8)(X23), X12
	MOV   (Step_DataArgs+16)(X23), X13
	CALL  X7
next:
	ADD   $Step__size, X23, X23
	BNE   X23, X24, step
complete:
	MOV   Program_Object(X22), X10
	MOV   Program_Complete(X22), X7
	CALL  X7
	ERRNO(done)
	LEAVE
	MOVW  X20, result+24(FP)
	MOVW  X21, errno+28(FP)
	RETURN
portable:
	JMP   ·playPortable(SB)

// func pollEx(p *ExtendedPoll, into unsafe.Pointer, n int) (got int, result, errno int32)
TEXT ·pollEx(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   p+0(FP), X22         // the poll, over all calls
	MOV   into+8(FP), X23      // the record
	MOV   n+16(FP), X26        // how many there is room for
	ENTER
	MOV   ExtendedPoll_CQ(X22), X10
	MOV   ExtendedPoll_Attr(X22), X11
	MOV   ExtendedPoll_Start(X22), X7
	CALL  X7
	MOVW  X10, X10
	BNEZ  X10, empty
completion:
	MOV   ExtendedPoll_Head(X22), X6
	MOVWU 4(X6), X28
	MOV   8(X6), X29
	MOVW  X28, 4(X23)
	MOV   X29, 8(X23)
	BNEZ  X28, failure
	MOV   ExtendedPoll_Fill(X22), X7
	BEQZ  X7, filled
	MOV   ExtendedPoll_CQ(X22), X10
	MOV   ExtendedPoll_FillAt(X22), X11
	ADD   X23, X11, X11
	CALL  X7
filled:
	MOV   ExtendedPoll_OnSuccess(X22), X24 // the read
read:
	MOV   Read_Fn(X24), X7
	BEQZ  X7, readAll
	MOV   ExtendedPoll_CQ(X22), X10
	CALL  X7
	MOV   Read_Result(X24), X6
	ADD   X23, X6, X6
	MOV   X10, (X6)
	ADD   $Read__size, X24, X24
	JMP   read
failure:
	MOV   ExtendedPoll_OnFailure(X22), X24
	JMP   read
readAll:
	ADD   $-1, X26, X26
	BEQZ  X26, full
	MOV   ExtendedPoll_Size(X22), X6
	ADD   X6, X23, X23
	MOV   ExtendedPoll_CQ(X22), X10
	MOV   ExtendedPoll_Next(X22), X7
	CALL  X7
	MOVW  X10, X10
	BEQZ  X10, completion
	ERRNO(last)
	MOVBU ExtendedPoll_NextEnds(X22), X6
	BNEZ  X6, left
end:
	MOV   ExtendedPoll_CQ(X22), X10
	MOV   ExtendedPoll_End(X22), X7
	CALL  X7
left:
	LEAVE
	MOV   n+16(FP), X6
	SUB   X26, X6, X6
	MOV   X6, got+24(FP)
	MOVW  X20, result+32(FP)
	MOVW  X21, errno+36(FP)
	RETURN
full:
	MOV   X0, X20
	MOV   X0, X21
	JMP   end
empty:
	ERRNO(first)
	JMP   left
portable:
	JMP   ·pollExPortable(SB)

// func call(fn, a, b, c, d, e, f uintptr) (result uintptr, errno int32)
TEXT ·call(SB), NOSPLIT|NOFRAME, $0-68
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   fn+0(FP), X7
	MOV   a+8(FP), X10
	MOV   b+16(FP), X11
	MOV   c+24(FP), X12
	MOV   d+32(FP), X13
	MOV   e+40(FP), X14
	MOV   f+48(FP), X15
	ENTER
	CALL  X7
	MOV   X10, X22
	ERRNO(done)
	LEAVE
	MOV   X22, result+56(FP)
	MOVW  X21, errno+64(FP)
	RETURN
portable:
	JMP   ·callPortable(SB)
