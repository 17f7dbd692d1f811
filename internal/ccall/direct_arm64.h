// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

// SETG puts the current goroutine into its thread-local variable too: see threadlocal.go.
#define SETG \
	MRS  TPIDR_EL0, R8 \
	MOVD ·currentOffset(SB), R10 \
	MOVD g, (R8)(R10)

// ENTER makes the thread's system goroutine and its stack the current ones. The goroutine stays in R19, its stack pointer
// in R20 and the return address in R21 over the call: C keeps them, as it keeps R29, the caller's frame.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// C may use the register that holds the current goroutine, so the thread-local variable changes with it: see
// threadlocal.go.
#define ENTER \
	MOVD g, R19 \
	MOVD RSP, R20 \
	MOVD R30, R21 \
	MOVD const_offM(g), R8 \
	MOVD R30, const_offSchedPC(g) \
	MOVD R20, const_offSchedSP(g) \
	MOVD const_offG0(R8), g \
	SETG \
	MOVD const_offSchedSP(g), R8 \
	SUB  $16, R8 \
	AND  $~15, R8 \
	MOVD R8, RSP

// LEAVE undoes ENTER.
#define LEAVE \
	MOVD R20, RSP \
	MOVD R19, g \
	SETG \
	MOVD R21, R30

// RETURN returns, by way of yield if the goroutine is to give way.
#define RETURN \
	MOVD const_offStackGuard(g), R8 \
	MOVD RSP, R10 \
	CMP  R8, R10 \
	BLS  rest \
	RET \
rest: \
	JMP  ·yield(SB)

// ERRNO moves the result from R0 to R22, and puts the C errno into R23 if it is -1, and 0 otherwise. done
// is a label of its own.
#define ERRNO(done) \
	MOVW R0, R22 \
	MOVW $0, R23 \
	CMNW $1, R0 \
	BNE  done \
	MOVD ·errnoFunction(SB), R8 \
	CBZ  R8, done \
	CALL (R8) \
	MOVW (R0), R23 \
done:
