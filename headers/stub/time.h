/* Stub: the time that a device's clock is read into. */
#ifndef STUB_TIME_H
#define STUB_TIME_H
#include <stddef.h>
#if __STUB_TIME_SIZE == __SIZEOF_LONG__
typedef long time_t;
#else
typedef long long time_t;
#endif
#ifdef __FreeBSD__
typedef int clock_t;
#else
typedef long clock_t;
#endif
typedef int clockid_t;
struct timespec {
	time_t tv_sec;
	long tv_nsec;
#if __STUB_TIME_SIZE > __SIZEOF_LONG__
	long : 32;
#endif
};
#endif
