// What assembly is made of that is called the compiler's way.

// Called the compiler's way: the first arguments in AX, BX, CX, DI and SI, results in AX, BX, CX, DI and SI, the current
// goroutine in R14, and zero in X15. R14, X15 and BP are to be kept, no other register. See direct_amd64.s for what is done
// here and why.

#define get_tls(r) MOVQ TLS, r
#define g(r) 0(r)(TLS*1)

// ENTER goes to the system stack, with the goroutine's stack pointer in R12. C keeps that, BX, R13, R14, R15 and BP. A
// goroutine that calls again from where it called last has its place saved already. To look costs nothing, and each store
// would: one C function or the next takes a lock, and that waits for all stores before it.
#define ENTER \
	MOVQ SP, R12 \
	MOVQ const_offM(R14), R11 \
	MOVQ const_offG0(R11), R11 \
	CMPQ R11, R14 \
	JEQ  entered \
	MOVQ 0(SP), R8 \
	LEAQ 8(SP), R9 \
	CMPQ R8, const_offSchedPC(R14) \
	JNE  save \
	CMPQ R9, const_offSchedSP(R14) \
	JEQ  saved \
save: \
	MOVQ R8, const_offSchedPC(R14) \
	MOVQ R9, const_offSchedSP(R14) \
saved: \
	get_tls(R10) \
	MOVQ R11, g(R10) \
	MOVQ const_offSchedSP(R11), SP \
entered: \
	SUBQ $16, SP \
	ANDQ $~15, SP

// LEAVE undoes ENTER.
#define LEAVE \
	get_tls(R10) \
	MOVQ R12, SP \
	MOVQ R14, g(R10) \
	XORPS X15, X15

// ERRNO puts the C errno into CX if AX, the result, is -1, and 0 otherwise. known is a label of its own.
#define ERRNO(known) \
	XORL CX, CX \
	CMPL AX, $-1 \
	JNE  known \
	MOVQ ·errnoFunction(SB), DX \
	TESTQ DX, DX \
	JEQ  known \
	CALL DX \
	MOVL (AX), CX \
	MOVL $-1, AX \
known:

// GOON goes on at a Go function instead of returning.
#define GOON(funcValue) \
	MOVQ funcValue, DX \
	MOVQ (DX), R8 \
	JMP  R8

// RETURN returns, unless the goroutine is to stop: then it goes on at a function that gives way, and returns the same.
#define RETURN(rested) \
	CMPQ SP, const_offStackGuard(R14) \
	JLS  rest \
	RET \
rest: \
	GOON(rested)

// NOERROR makes the error that is returned nil.
#define NOERROR \
	XORL BX, BX \
	XORL CX, CX

// NOTASKED goes on at refused, a func value, with what the list is in CX.
#define NOTASKED(refused) \
	MOVQ CX, AX \
	XORL BX, BX \
	MOVL $const_NotAsked, CX \
	XORL DI, DI \
	GOON(refused)
