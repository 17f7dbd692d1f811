//go:build linux

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"

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

// ERRNO moves the result from X10 to X20, and puts the C errno into X21 if it is -1, and 0 otherwise.
#define ERRNO \
	MOVW X10, X20 \
	MOV  X0, X21 \
	MOV  $-1, X6 \
	BNE  X6, X20, done \
	MOV  ·errnoFunction(SB), X6 \
	BEQZ X6, done \
	CALL X6 \
	MOVW (X10), X21 \
done:

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   fn+0(FP), X7
	MOV   object+8(FP), X10
	MOV   list+16(FP), X11
	ENTER
	MOV   X0, 0(X2)            // bad
	MOV   X2, X12
	CALL  X7
	ERRNO
	MOV   0(X2), X22
	LEAVE
	MOVW  X20, result+24(FP)
	MOVW  X21, errno+28(FP)
	MOV   X22, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), X6
	BEQZ  X6, portable
	MOV   fn+0(FP), X7
	MOV   cq+8(FP), X10
	MOVW  n+16(FP), X11
	MOV   wc+24(FP), X12
	ENTER
	CALL  X7
	ERRNO
	LEAVE
	MOVW  X20, result+32(FP)
	MOVW  X21, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOV g, current+0(FP)
	MOV X2, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	MOV TP, ret+0(FP)
	RET
