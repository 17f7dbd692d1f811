// What all assembly for this processor is made of. The offsets are constants of layout.go, from go_asm.h.

// SETG puts the current goroutine into its thread-local variable too: see threadlocal.go.
#define SETG \
	MOV ·currentOffset(SB), X6 \
	ADD TP, X6, X6 \
	MOV g, (X6)

// ENTER makes the thread's system goroutine and its stack the current ones. The goroutine stays in X9, its stack pointer
// in X18 and the return address in X19 over the call: C keeps them.
// The caller's place is saved in the goroutine, for the runtime to show the goroutine's stack if C faults.
// C may use the register that holds the current goroutine, so the thread-local variable changes with it: see
// threadlocal.go.
#define ENTER \
	MOV  g, X9 \
	MOV  X2, X18 \
	MOV  X1, X19 \
	MOV  const_offM(g), X6 \
	MOV  X1, const_offSchedPC(g) \
	MOV  X2, const_offSchedSP(g) \
	MOV  const_offG0(X6), g \
	SETG \
	MOV  const_offSchedSP(g), X6 \
	ADD  $-16, X6, X6 \
	AND  $~15, X6, X2

// LEAVE undoes ENTER.
#define LEAVE \
	MOV  X18, X2 \
	MOV  X9, g \
	SETG \
	MOV  X19, X1

// RETURN returns, by way of yield if the goroutine is to give way.
#define RETURN \
	MOV  const_offStackGuard(g), X6 \
	BGEU X6, X2, rest \
	RET \
rest: \
	JMP  ·yield(SB)

// ERRNO moves the result from X10 to X20, and puts the C errno into X21 if it is -1, and 0 otherwise. done
// is a label of its own.
#define ERRNO(done) \
	MOVW X10, X20 \
	MOV  X0, X21 \
	MOV  $-1, X6 \
	BNE  X6, X20, done \
	MOV  ·errnoFunction(SB), X6 \
	BEQZ X6, done \
	CALL X6 \
	MOVW (X10), X21 \
done:
