/* Stub: sets of processors. */
#ifndef STUB_SCHED_H
#define STUB_SCHED_H
#include <sys/types.h>
#include <time.h>
#ifndef __FreeBSD__
typedef struct {
	unsigned long __bits[1024 / 8 / sizeof(long)];
} cpu_set_t;
#endif
struct sched_param {
	int sched_priority;
#ifdef __STUB_MUSL
	int __reserved1;
#if __SIZEOF_LONG__ == 8
	long __reserved2[4];
#else
	long __reserved2[8];
#endif
	int __reserved3;
#endif
};
#endif
