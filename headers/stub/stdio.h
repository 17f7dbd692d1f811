/* Stub: streams, and the types that <stdio.h> has besides. */
#ifndef STUB_STDIO_H
#define STUB_STDIO_H
#include <stdarg.h>
#include <sys/types.h>
#ifdef __FreeBSD__
typedef struct __sFILE FILE;
#else
typedef struct _IO_FILE FILE;
#endif
#endif
