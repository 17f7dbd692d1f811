/* Stub: POSIX types. */
#ifndef STUB_SYS_TYPES_H
#define STUB_SYS_TYPES_H
#include <endian.h>
#include <stddef.h>
#include <stdint.h>
typedef long off_t;
typedef __PTRDIFF_TYPE__ ssize_t;
typedef int pid_t;
#endif
