/* Stub: addresses of local sockets. */
#ifndef STUB_SYS_UN_H
#define STUB_SYS_UN_H
#include <sys/socket.h>
struct sockaddr_un {
	__STUB_FAMILY(sun_);
#ifdef __FreeBSD__
	char sun_path[104];
#else
	char sun_path[108];
#endif
};
#endif
