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
#define __STUB_PTHREAD_TYPES_ONLY
#include <pthread.h>
#undef __STUB_PTHREAD_TYPES_ONLY
#endif
