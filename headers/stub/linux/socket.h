/* Stub: the kernel's socket address of any family. */
#ifndef STUB_LINUX_SOCKET_H
#define STUB_LINUX_SOCKET_H
typedef unsigned short __kernel_sa_family_t;
struct __kernel_sockaddr_storage {
	union {
		struct {
			__kernel_sa_family_t ss_family;
			char __data[126];
		};
		void *__align;
	};
};
#endif
