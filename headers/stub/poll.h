/* Stub: what can be waited for. */
#ifndef STUB_POLL_H
#define STUB_POLL_H
typedef unsigned long nfds_t;
struct pollfd {
	int fd;
	short events;
	short revents;
};
#endif
