/* Stub: the time that processes have used. */
#ifndef STUB_SYS_TIMES_H
#define STUB_SYS_TIMES_H
#include <time.h>
struct tms {
	clock_t tms_utime;
	clock_t tms_stime;
	clock_t tms_cutime;
	clock_t tms_cstime;
};
#endif
