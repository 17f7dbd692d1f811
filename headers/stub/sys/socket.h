/* Stub: socket addresses, as far as connections embed them. */
#ifndef STUB_SYS_SOCKET_H
#define STUB_SYS_SOCKET_H
#include <sys/types.h>
typedef unsigned int socklen_t;
#ifdef __FreeBSD__
typedef unsigned char sa_family_t;
#define __STUB_FAMILY(prefix) unsigned char prefix##len; sa_family_t prefix##family
#else
typedef unsigned short sa_family_t;
#define __STUB_FAMILY(prefix) sa_family_t prefix##family
#endif
struct sockaddr {
	__STUB_FAMILY(sa_);
	char sa_data[14];
};
struct sockaddr_storage {
	__STUB_FAMILY(ss_);
	char __ss_padding[128 - 2 - sizeof(long)];
	unsigned long __ss_align;
};
struct msghdr;
#endif
