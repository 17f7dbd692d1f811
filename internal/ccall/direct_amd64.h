// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

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
