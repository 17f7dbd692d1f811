package ibv

import "syscall"

// ForkInit makes fork(2) spare registered memory. It is for processes in which C
// forks: package os/exec does not need it, because its child has the program's own
// memory until it runs another program. It must be called before any memory is
// registered, and slows registration down. Kernels from 5.12 on do not need it.
//
// C: ibv_fork_init(3)
func ForkInit() error {
	return action{op: "prepare for fork", hints: map[syscall.Errno]string{
		syscall.EINVAL: "memory has been registered already",
		syscall.ENOSYS: "the kernel cannot keep memory from a child",
	}}.from(cForkInit())
}
