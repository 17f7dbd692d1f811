// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

// SETG puts the current goroutine into its thread-local variable too: see threadlocal.go.
#define SETG \
	MOVD ·currentOffset(SB), R8 \
	MOVD g, (R13)(R8)

// ENTER makes the thread's system goroutine and its stack the current ones. The goroutine stays in R14, its stack pointer
// in R15, the return address in R16 and the table of contents in R17 over the call: C keeps them.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// C may use the register that holds the current goroutine, so the thread-local variable changes with it: see
// threadlocal.go.
// At the new stack pointer lie C's 32 bytes of linkage, where the chain of frames ends, 64 bytes in which C may keep its
// arguments, and room for bad.
#define ENTER \
	MOVD  g, R14 \
	MOVD  R1, R15 \
	MOVD  LR, R16 \
	MOVD  R2, R17 \
	MOVD  const_offM(g), R8 \
	MOVD  R16, const_offSchedPC(g) \
	MOVD  R15, const_offSchedSP(g) \
	MOVD  const_offG0(R8), g \
	SETG \
	MOVD  const_offSchedSP(g), R8 \
	ADD   $-112, R8 \
	RLDCR $0, R8, $~15, R1 \
	MOVD  R0, 0(R1)

// LEAVE undoes ENTER.
#define LEAVE \
	MOVD R15, R1 \
	MOVD R14, g \
	SETG \
	MOVD R16, LR

// RETURN returns, by way of yield if the goroutine is to give way.
#define RETURN \
	MOVD const_offStackGuard(g), R8 \
	CMPU R1, R8 \
	BLE  rest \
	RET \
rest: \
	JMP  ·yield(SB)

// CCALL calls the function at R12, where C wants its address to be, and brings back what C may change and Go must have:
// zero in R0, and the table of contents.
#define CCALL \
	MOVD R12, CTR \
	CALL CTR \
	MOVD $0, R0 \
	MOVD R17, R2

// ERRNO moves the result from R3 to R18, and puts the C errno into R19 if it is -1, and 0 otherwise. done
// is a label of its own.
#define ERRNO(done) \
	MOVW R3, R18 \
	MOVD R0, R19 \
	CMPW R18, $-1 \
	BNE  done \
	MOVD ·errnoFunction(SB), R12 \
	CMP  R12, $0 \
	BEQ  done \
	CCALL \
	MOVW (R3), R19 \
done:
