/* Stub: POSIX types, whose widths are the C library's. */
#ifndef STUB_SYS_TYPES_H
#define STUB_SYS_TYPES_H
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __STUB_GLIBC
typedef long off_t;
typedef unsigned long ino_t;
#else
typedef int64_t off_t;
typedef uint64_t ino_t;
#endif
#ifdef __FreeBSD__
typedef uint16_t mode_t;
typedef long key_t;
#else
typedef unsigned int mode_t;
typedef int key_t;
#endif
typedef __PTRDIFF_TYPE__ ssize_t;
typedef uint64_t dev_t;
typedef int pid_t;
typedef unsigned int uid_t;
typedef unsigned int gid_t;
typedef unsigned int id_t;
typedef unsigned char u_char;
typedef unsigned short u_short;
typedef unsigned int u_int;
typedef unsigned long u_long;
typedef uint8_t u_int8_t;
typedef uint16_t u_int16_t;
typedef uint32_t u_int32_t;
typedef uint64_t u_int64_t;
typedef char *caddr_t;
/* The types of threads, which objects embed. */
#ifdef __STUB_PTHREAD_POINTERS
typedef struct pthread_mutex *pthread_mutex_t;
typedef struct pthread_cond *pthread_cond_t;
typedef struct pthread_rwlock *pthread_rwlock_t;
typedef struct pthread_spinlock *pthread_spinlock_t;
typedef struct pthread_mutex_attr *pthread_mutexattr_t;
typedef struct pthread_cond_attr *pthread_condattr_t;
typedef struct pthread_attr *pthread_attr_t;
typedef struct pthread *pthread_t;
typedef int pthread_key_t;
#else
typedef union {
	char __size[__STUB_PTHREAD_MUTEX_SIZE];
	long __align;
} pthread_mutex_t;
typedef union {
	char __size[__STUB_PTHREAD_COND_SIZE];
	long __align;
} __attribute__((aligned(__STUB_PTHREAD_COND_ALIGN))) pthread_cond_t;
typedef union {
	char __size[8 + 6 * sizeof(long)];
	long __align;
} pthread_rwlock_t;
typedef int pthread_spinlock_t;
typedef union {
	char __size[__STUB_PTHREAD_KIND_SIZE];
	int __align;
} pthread_mutexattr_t, pthread_condattr_t;
typedef union {
	char __size[__STUB_PTHREAD_ATTR_SIZE];
	long __align;
} pthread_attr_t;
typedef unsigned long pthread_t;
typedef unsigned int pthread_key_t;
#endif
#endif
