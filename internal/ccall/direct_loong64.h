// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

// SETG puts the current goroutine into its thread-local variable too: see threadlocal.go. R2 is the thread pointer.
#define SETG \
	MOVV ·currentOffset(SB), R12 \
	ADDV R2, R12 \
	MOVV g, (R12)

// ENTER makes the thread's system goroutine and its stack the current ones. The goroutine stays in R23, its stack pointer
// in R24 and the return address in R25 over the call: C keeps them.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// C may use the register that holds the current goroutine, so the thread-local variable changes with it: see
// threadlocal.go.
#define ENTER \
	MOVV g, R23 \
	MOVV R3, R24 \
	MOVV R1, R25 \
	MOVV const_offM(g), R12 \
	MOVV R1, const_offSchedPC(g) \
	MOVV R3, const_offSchedSP(g) \
	MOVV const_offG0(R12), g \
	SETG \
	MOVV const_offSchedSP(g), R12 \
	ADDV $-16, R12 \
	AND  $~15, R12 \
	MOVV R12, R3

// LEAVE undoes ENTER.
#define LEAVE \
	MOVV R24, R3 \
	MOVV R23, g \
	SETG \
	MOVV R25, R1

// RETURN returns, by way of yield if the goroutine is to give way.
#define RETURN \
	MOVV const_offStackGuard(g), R12 \
	BGEU R12, R3, rest \
	RET \
rest: \
	JMP  ·yield(SB)

// ERRNO moves the result from R4 to R26, and puts the C errno into R27 if it is -1, and 0 otherwise. done
// is a label of its own.
#define ERRNO(done) \
	MOVW R4, R26 \
	MOVV R0, R27 \
	MOVV $-1, R12 \
	BNE  R12, R26, done \
	MOVV ·errnoFunction(SB), R12 \
	BEQ  R12, done \
	CALL (R12) \
	MOVW (R4), R27 \
done:
