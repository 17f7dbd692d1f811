//go:build linux

#include "go_asm.h"
#include "textflag.h"
#include "direct_arm64.h"

// func post(fn uintptr, object, list unsafe.Pointer) (result, errno int32, bad uintptr)
TEXT ·post(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  fn+0(FP), R9
	MOVD  object+8(FP), R0
	MOVD  list+16(FP), R1
	ENTER
	MOVD  ZR, 0(RSP)           // bad
	MOVD  RSP, R2
	CALL  (R9)
	ERRNO(done)
	MOVD  0(RSP), R24
	LEAVE
	MOVW  R22, result+24(FP)
	MOVW  R23, errno+28(FP)
	MOVD  R24, bad+32(FP)
	RETURN
portable:
	JMP   ·postPortable(SB)

// func poll(fn uintptr, cq unsafe.Pointer, n int32, wc unsafe.Pointer) (result, errno int32)
TEXT ·poll(SB), NOSPLIT|NOFRAME, $0-40
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  fn+0(FP), R9
	MOVD  cq+8(FP), R0
	MOVW  n+16(FP), R1
	MOVD  wc+24(FP), R2
	ENTER
	CALL  (R9)
	ERRNO(done)
	LEAVE
	MOVW  R22, result+32(FP)
	MOVW  R23, errno+36(FP)
	RETURN
portable:
	JMP   ·pollPortable(SB)

// func makePair(p *Pair)
TEXT ·makePair(SB), NOSPLIT|NOFRAME, $0-8
	MOVBU ·direct(SB), R8
	CBZ   R8, portable
	MOVD  p+0(FP), R25
	ENTER
	MOVD  Pair_Object(R25), R0
	MOVD  Pair_List(R25), R1
	ADD   $Pair_Bad, R25, R2
	MOVD  ZR, (R2)
	MOVD  Pair_PostFn(R25), R9
	CALL  (R9)
	ERRNO(posted)
	MOVW  R22, Pair_PostResult(R25)
	MOVW  R23, Pair_PostErrno(R25)
	MOVD  Pair_CQ(R25), R0
	MOVW  Pair_Room(R25), R1
	MOVD  Pair_Into(R25), R2
	MOVD  Pair_PollFn(R25), R9
	CALL  (R9)
	ERRNO(polled)
	MOVW  R22, Pair_Got(R25)
	MOVW  R23, Pair_PollErrno(R25)
	LEAVE
	RETURN
portable:
	JMP   ·pairStepwise(SB)

// func probe() (current, sp uintptr)
TEXT ·probe(SB), NOSPLIT|NOFRAME, $0-16
	MOVD g, current+0(FP)
	MOVD RSP, R8
	MOVD R8, sp+8(FP)
	RET

// func threadPointer() uintptr
TEXT ·threadPointer(SB), NOSPLIT|NOFRAME, $0-8
	MRS  TPIDR_EL0, R8
	MOVD R8, ret+0(FP)
	RET
