//go:build linux && !go1.28

#include "go_asm.h"
#include "textflag.h"
#include "registers_amd64.h"

// func(l *List, _, _ uintptr) (accepted int, err error), with the boundList in DX. It stays in R13, for C keeps that.
TEXT ·boundListInRegisters(SB), NOSPLIT|NOFRAME|NEEDCTXT, $0-0
	TESTQ AX, AX
	JEQ  missing
	CMPQ List_Len(AX), $0
	JEQ  nothing
	MOVQ AX, BX
	MOVQ DX, R13
	MOVQ boundList_object(R13), DI
	MOVQ List_First(BX), SI
	LEAQ List_bad(BX), DX
	ENTER
	CALL boundList_fn(R13)
	TESTL AX, AX
	JNE  failed
	CMPQ List_bad(BX), $0
	JNE  failed
	LEAVE
	MOVQ List_Len(BX), AX
accepted:
	NOERROR
	RETURN(·countRested(SB))
nothing:
	XORL AX, AX
	JMP  accepted
failed:
	ERRNO(known)
	LEAVE
	MOVQ List_bad(BX), DI
	MOVQ $0, List_bad(BX)
	XCHGQ AX, BX
	GOON(boundList_refused(R13))
missing:
	GOON(·listMissing(SB))

// func(into unsafe.Pointer, n int, _ uintptr) (got int, err error), with the boundPoll in DX, likewise.
TEXT ·boundPollInRegisters(SB), NOSPLIT|NOFRAME|NEEDCTXT, $0-0
	TESTQ BX, BX
	JEQ  nothing
	MOVQ DX, R13
	MOVL $0x7FFFFFFF, SI
	CMPQ BX, SI
	CMOVQLT BX, SI
	MOVQ AX, DX
	MOVQ boundPoll_cq(R13), DI
	MOVL SI, R15
	ENTER
	CALL boundPoll_fn(R13)
	CMPL AX, R15              // unsigned, so that a negative one is more than was asked for too
	JHI  failed
	LEAVE
	MOVL AX, AX
got:
	NOERROR
	RETURN(·countRested(SB))
nothing:
	XORL AX, AX
	JMP  got
failed:
	ERRNO(known)
	LEAVE
	MOVL AX, BX
	MOVQ boundPoll_cq(R13), AX
	MOVL R15, DI
	GOON(boundPoll_failed(R13))

DATA ·boundListCode(SB)/8, $·boundListInRegisters(SB)
GLOBL ·boundListCode(SB), NOPTR|RODATA, $8
DATA ·boundPollCode(SB)/8, $·boundPollInRegisters(SB)
GLOBL ·boundPollCode(SB), NOPTR|RODATA, $8
