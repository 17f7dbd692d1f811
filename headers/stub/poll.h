/* Stub: what can be waited for. */
#ifndef STUB_POLL_H
#define STUB_POLL_H
#ifdef __FreeBSD__
typedef unsigned int nfds_t;
#else
typedef unsigned long nfds_t;
#endif
struct pollfd {
	int fd;
	short events;
	short revents;
};
#endif
