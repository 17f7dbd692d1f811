//go:build linux

#include "go_asm.h" // the offsets: constants of layout.go
#include "textflag.h"

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

// ERRNO moves the result from R2 to R9, and puts the C errno into R3 if it is -1, and 0 otherwise.
#define ERRNO \
	MOVW R2, R9 \
	MOVD $0, R3 \
	CMPW R9, $-1 \
	BNE  done \
	MOVD ·errnoFunction(SB), R1 \
	CMPBEQ R1, $0, done \
	CCALL \
	MOVW (R2), R3 \
done:

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  fn+0(FP), R1
	MOVD  object+8(FP), R2
	MOVD  list+16(FP), R3
	ENTER
	MOVD  $0, 160(R15)         // bad
	MOVD  $160(R15), R4
	CCALL
	ERRNO
	MOVD  160(R15), R4
	LEAVE
	MOVW  R9, result+24(FP)
	MOVW  R3, errno+28(FP)
	MOVD  R4, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBZ ·direct(SB), R1
	CMPBEQ R1, $0, portable
	MOVD  fn+0(FP), R1
	MOVD  cq+8(FP), R2
	MOVW  n+16(FP), R3
	MOVD  wc+24(FP), R4
	ENTER
	CCALL
	ERRNO
	LEAVE
	MOVW  R9, result+32(FP)
	MOVW  R3, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOVD g, current+0(FP)
	MOVD R15, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	THREAD
	MOVD R5, ret+0(FP)
	RET
