// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

// THREAD puts the thread pointer into R5.
#define THREAD \
	MOVW AR0, R5 \
	SLD  $32, R5 \
	MOVW AR1, R5

// SETG puts the current goroutine into its thread-local variable too: see threadlocal.go.
#define SETG \
	THREAD \
	MOVD ·currentOffset(SB), R12 \
	MOVD g, 0(R5)(R12*1)

// ENTER makes the thread's system goroutine and its stack the current ones. The goroutine stays in R6, its stack pointer
// in R7 and the return address in R8 over the call: C keeps them.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// C may use the register that holds the current goroutine, so the thread-local variable changes with it: see
// threadlocal.go.
// At the new stack pointer lie 160 bytes in which C saves registers, and where the chain of frames ends, and room for bad.
#define ENTER \
	MOVD g, R6 \
	MOVD R15, R7 \
	MOVD R14, R8 \
	MOVD const_offM(g), R5 \
	MOVD R14, const_offSchedPC(g) \
	MOVD R15, const_offSchedSP(g) \
	MOVD const_offG0(R5), g \
	SETG \
	MOVD const_offSchedSP(g), R5 \
	ADD  $-168, R5 \
	AND  $~7, R5 \
	MOVD R5, R15 \
	MOVD $0, 0(R15)

// LEAVE undoes ENTER.
#define LEAVE \
	MOVD R7, R15 \
	MOVD R6, g \
	SETG \
	MOVD R8, R14

// RETURN returns, by way of yield if the goroutine is to give way.
#define RETURN \
	MOVD const_offStackGuard(g), R5 \
	CMPUBLE R15, R5, rest \
	RET \
rest: \
	JMP  ·yield(SB)

// CCALL calls the function at R1, and brings back the zero that Go has in R0.
#define CCALL \
	CALL R1 \
	MOVD $0, R0

// ERRNO moves the result from R2 to R9, and puts the C errno into R3 if it is -1, and 0 otherwise. done
// is a label of its own.
#define ERRNO(done) \
	MOVW R2, R9 \
	MOVD $0, R3 \
	CMPW R9, $-1 \
	BNE  done \
	MOVD ·errnoFunction(SB), R1 \
	CMPBEQ R1, $0, done \
	CCALL \
	MOVW (R2), R3 \
done:
