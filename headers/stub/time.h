/* Stub: the time that a device's clock is read into. */
#ifndef STUB_TIME_H
#define STUB_TIME_H
typedef long time_t;
struct timespec {
	time_t tv_sec;
	long tv_nsec;
};
#endif
