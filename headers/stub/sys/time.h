/* Stub: times in microseconds. */
#ifndef STUB_SYS_TIME_H
#define STUB_SYS_TIME_H
#include <time.h>
#ifdef __FreeBSD__
typedef long suseconds_t;
#else
typedef time_t suseconds_t;
#endif
struct timeval {
	time_t tv_sec;
	suseconds_t tv_usec;
};
#endif
