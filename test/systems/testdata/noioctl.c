/*
 * To be preloaded into programs under qemu-user, which knows no ioctl of RDMA's and answers what libibverbs takes for
 * the device's own refusal. Here such a call gets ENOTTY, as from a kernel that is older than they are, and libibverbs
 * does what it does there: it writes its commands to the device's file, which needs no translation.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { rdma = 0x1b }; /* the second byte of a request, in uapi/rdma/rdma_user_ioctl.h */

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;

	if ((request >> 8 & 0xff) == rdma) {
		errno = ENOTTY;
		return -1;
	}
	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	return syscall(SYS_ioctl, fd, request, argument);
}
