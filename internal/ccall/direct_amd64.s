//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_amd64.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ fn+0(FP), AX
	MOVQ object+8(FP), DI
	MOVQ list+16(FP), SI
	ENTER
	MOVQ $0, 0(SP)            // bad
	MOVQ SP, DX
	CALL AX
	MOVQ 0(SP), R13           // kept over the call in ERRNO
	ERRNO(done)
	LEAVE
	MOVL AX, result+24(FP)
	MOVL CX, errno+28(FP)
	MOVQ R13, bad+32(FP)
	RETURN
portable:
	JMP  ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ fn+0(FP), AX
	MOVQ cq+8(FP), DI
	MOVL n+16(FP), SI
	MOVQ wc+24(FP), DX
	ENTER
	CALL AX
	ERRNO(done)
	LEAVE
	MOVL AX, result+32(FP)
	MOVL CX, errno+36(FP)
	RETURN
portable:
	JMP  ·pollPortable(SB)

// func makePair(p *Pair)
TEXT ·makePair(SB), NOSPLIT|NOFRAME, $0-8
	CMPB ·direct(SB), $0
	JEQ  portable
	MOVQ p+0(FP), AX
	ENTER
	MOVQ AX, R13
	MOVQ Pair_Object(R13), DI
	MOVQ Pair_List(R13), SI
	LEAQ Pair_Bad(R13), DX
	CMPQ (DX), $0
	JEQ  clear
	MOVQ $0, (DX)
clear:
	MOVQ Pair_PostFn(R13), AX
	CALL AX
	ERRNO(posted)
	MOVL AX, AX               // both are stored as one word, unless they are there already
	SHLQ $32, CX
	ORQ  CX, AX
	CMPQ AX, Pair_PostResult(R13)
	JEQ  noted
	MOVQ AX, Pair_PostResult(R13)
noted:
	MOVQ Pair_CQ(R13), DI
	MOVL Pair_Room(R13), SI
	MOVQ Pair_Into(R13), DX
	MOVQ Pair_PollFn(R13), AX
	CALL AX
	ERRNO(polled)
	MOVL AX, Pair_Got(R13)
	MOVL CX, Pair_PollErrno(R13)
	LEAVE
	RETURN
portable:
	JMP  ·pairStepwise(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	get_tls(CX)
	MOVQ g(CX), AX
	MOVQ AX, current+0(FP)
	MOVQ SP, sp+8(FP)
	RET
