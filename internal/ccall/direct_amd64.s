//go:build linux

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"

// The current goroutine is in thread-local storage; R14 holds it in the compiler's code only.
#define get_tls(r) MOVQ TLS, r
#define g(r) 0(r)(TLS*1)

// ENTER makes the thread's system goroutine and its stack the current ones, unless they are already. The goroutine stays
// in BX and its stack pointer in R12 over the call: C keeps both. BP stays the caller's frame for whoever follows frames.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// To look first costs nothing, and each store would: the lock that C takes waits for all stores before it.
// The order at the end is the runtime's own: first the goroutine, then the stack.
#define ENTER \
	get_tls(CX) \
	MOVQ g(CX), BX \
	MOVQ SP, R12 \
	MOVQ const_offM(BX), R13 \
	MOVQ const_offG0(R13), R13 \
	CMPQ R13, BX \
	JEQ  entered \
	MOVQ 0(SP), R8 \
	LEAQ 8(SP), R9 \
	CMPQ R8, const_offSchedPC(BX) \
	JNE  save \
	CMPQ R9, const_offSchedSP(BX) \
	JEQ  saved \
save: \
	MOVQ R8, const_offSchedPC(BX) \
	MOVQ R9, const_offSchedSP(BX) \
saved: \
	MOVQ R13, g(CX) \
	MOVQ const_offSchedSP(R13), SP \
entered: \
	SUBQ $16, SP \
	ANDQ $~15, SP

// LEAVE undoes ENTER.
#define LEAVE \
	get_tls(DX) \
	MOVQ R12, SP \
	MOVQ BX, g(DX)

// RETURN returns, by way of yield if the goroutine is to give way. LEAVE has left it in BX.
#define RETURN \
	CMPQ SP, const_offStackGuard(BX) \
	JLS  rest \
	RET \
rest: \
	JMP  ·yield(SB)

// ERRNO puts the C errno into CX if AX, the result, is -1, and 0 otherwise. R15 carries the result over the call. done is
// a label of its own.
#define ERRNO(done) \
	XORL CX, CX \
	CMPL AX, $-1 \
	JNE  done \
	MOVQ ·errnoFunction(SB), DX \
	TESTQ DX, DX \
	JEQ  done \
	MOVL AX, R15 \
	CALL DX \
	MOVL (AX), CX \
	MOVL R15, AX \
done:

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
