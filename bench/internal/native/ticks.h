/* The counter that package ticks reads. */
#ifndef TICKS_H
#define TICKS_H

#include <stdint.h>
#include <time.h>

static inline int64_t ticks(void)
{
#if defined __x86_64__
	uint64_t t;

	__builtin_ia32_lfence();
	t = __builtin_ia32_rdtsc();
	__builtin_ia32_lfence();
	return t;
#elif defined __aarch64__
	uint64_t t;

	__asm__ volatile("isb; mrs %0, cntvct_el0; isb" : "=r"(t));
	return t;
#else
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
#endif
}

#endif
