// What programs are made of, in both ways to come to them. The offsets are constants of the structs', from go_asm.h.

// STEP makes the calls of a step, and goes to the next one. Nothing that is usual is jumped for: each jump that is taken
// costs as much as several instructions. object is the first argument of all calls.
#define STEP(step, program, object) \
	MOVQ Program_Words(program), DX \
	MOVQ Step_WRID(step), AX \
	MOVQ Step_Flags(step), CX \
	MOVQ AX, 0(DX) \
	MOVL CX, 8(DX) \
	SHRQ $32, CX \
	JEQ  otherOp \
	MOVQ object, DI \
	MOVQ (Step_OpArgs+0)(step), SI \
	MOVQ (Step_OpArgs+8)(step), DX \
	MOVQ (Step_OpArgs+16)(step), CX \
	CALL Step_Op(step) \
data: \
	MOVQ object, DI \
	MOVQ (Step_DataArgs+0)(step), SI \
	MOVQ (Step_DataArgs+8)(step), DX \
	MOVQ (Step_DataArgs+16)(step), CX \
	CALL Step_Data(step) \
next: \
	SUBQ $-Step__size, step

// OTHERSTEP is what STEP jumps to for a step that is not plain.
#define OTHERSTEP(step, object) \
otherOp: \
	MOVQ Step_Op(step), AX \
	TESTQ AX, AX \
	JEQ  address \
	MOVQ object, DI \
	MOVQ (Step_OpArgs+0)(step), SI \
	MOVQ (Step_OpArgs+8)(step), DX \
	MOVQ (Step_OpArgs+16)(step), CX \
	MOVQ (Step_OpArgs+24)(step), R8 \
	MOVQ (Step_OpArgs+32)(step), R9 \
	CALL AX \
address: \
	MOVQ Step_Address(step), AX \
	TESTQ AX, AX \
	JEQ  otherData \
	MOVQ object, DI \
	MOVQ (Step_AddressArgs+0)(step), SI \
	MOVQ (Step_AddressArgs+8)(step), DX \
	MOVQ (Step_AddressArgs+16)(step), CX \
	CALL AX \
otherData: \
	CMPQ Step_Data(step), $0 \
	JNE  data \
	JMP  next

// READ makes the call number i of a list at R15, whose function is in AX, and has the next one's there then.
#define READ(i) \
	TESTQ AX, AX \
	JEQ  readAll \
	MOVQ BX, DI \
	CALL AX \
	MOVQ (i*Read__size+Read_Result)(R15), CX \
	MOVQ AX, (R13)(CX*1) \
	MOVQ (i*Read__size+Read__size+Read_Fn)(R15), AX

// POLL takes completions after a start that went well. R15 is the poll, R13 the record, and BX how many there is room for.
// After it, AX is how many were taken, R13 the result and R15 errno. What it stores, it stores after the start, for that
// takes a lock, which waits for stores.
//
// The end of a list jumps back to what comes before the next one: one jump for each completion, as many as a loop in C has.
// With more, the processor cannot tell any longer where 16 completions end.
#define POLL \
	SUBQ $16, SP \
	MOVQ R12, 0(SP) \
	MOVQ BP, 8(SP) \
	MOVQ BX, 24(SP) \
	MOVL BX, BP \
	MOVQ R15, R12 \
	MOVQ ExtendedPoll_CQ(R12), BX \
	JMP  completion \
	PCALIGN $64 \
readAll: \
	DECL BP \
	JEQ  full \
	MOVQ BX, DI \
	ADDQ ExtendedPoll_Size(R12), R13 \
	CALL ExtendedPoll_Next(R12) \
	TESTL AX, AX \
	JNE  stopped \
completion: \
	MOVQ ExtendedPoll_Head(R12), CX \
	MOVL 4(CX), AX \
	MOVQ 8(CX), DX \
	MOVL AX, 4(R13) \
	MOVQ DX, 8(R13) \
	TESTL AX, AX \
	JNE  failure \
	CMPQ ExtendedPoll_Fill(R12), $0 \
	JNE  fill \
filled: \
	MOVQ ExtendedPoll_OnSuccess(R12), R15 \
reads: \
	MOVQ Read_Fn(R15), AX \
	READ(0) \
	READ(1) \
	READ(2) \
	READ(3) \
	READ(4) \
	READ(5) \
	ADDQ $(6*Read__size), R15 \
	JMP  reads \
full: \
	XORL R13, R13 \
	XORL R15, R15 \
end: \
	MOVQ BX, DI \
	CALL ExtendedPoll_End(R12) \
left: \
	MOVL 24(SP), AX \
	SUBL BP, AX \
	MOVQ 0(SP), R12 \
	MOVQ 8(SP), BP \
	ADDQ $16, SP

// OTHERPOLL is what POLL jumps to.
#define OTHERPOLL \
failure: \
	MOVQ ExtendedPoll_OnFailure(R12), R15 \
	JMP  reads \
fill: \
	MOVQ BX, DI \
	MOVQ ExtendedPoll_FillAt(R12), SI \
	ADDQ R13, SI \
	CALL ExtendedPoll_Fill(R12) \
	JMP  filled \
stopped: \
	ERRNO(last) \
	MOVL AX, R13 \
	MOVL CX, R15 \
	CMPB ExtendedPoll_NextEnds(R12), $0 \
	JEQ  end \
	JMP  left
